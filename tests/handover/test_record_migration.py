"""Hand-overs that were recorded before it was known to whom they belong."""

import re

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import new_id
from muniment.storage.db.migrate import downgrade, migrate
from muniment.storage.db.schema_version import MIGRATIONS
from muniment.storage.tasks.procrastinate.engine import ProcrastinateEngine
from tests.support.cluster import PASSWORDS
from tests.support.seed import Seed


def test_only_what_a_document_handed_over_itself_belongs_to_it(address: DatabaseAddress, seed: Seed) -> None:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    document_id = seed.document(kb_id, owner)
    downgrade(address, version_before("handovers_of_documents"))
    for sha256, event_kb_id in (("own", kb_id), ("foreign", None)):
        of_document = {"organization_id": owner.organization_id, "bilko_document_id": document_id, "sha256": sha256}
        seed.insert("archive_audit_log", **of_document, document_type="other", r2_object_key=f"org/{sha256}.pdf")
        event = {"action": "document_handed_over", "actor": "system", "organization_id": owner.organization_id}
        seed.insert(
            "audit_events",
            **event,
            id=new_id(),
            knowledge_base_id=event_kb_id,
            document_id=document_id,
            payload={"sha256": sha256},
        )
    migrate(address, PASSWORDS, ProcrastinateEngine())
    belongs = "SELECT sha256, belongs_to_document FROM archive_audit_log ORDER BY sha256"
    assert seed.rows(belongs) == [("foreign", False), ("own", True)]
    assert seed.rows("SELECT job_id FROM open_handovers") == [("org/own.pdf",)]


def version_before(subject: str) -> str:
    [path] = (MIGRATIONS / "versions").glob(f"*_{subject}.py")
    found = re.search(r'^down_revision = "(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]
