"""An installation of every earlier version, saved while it was working, starts with the current code."""

import hashlib
import json
import lzma
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import psycopg
import pytest
from packaging.version import Version

from muniment.audit.export.file_check import verify_file
from muniment.audit.receipts.record import verify_receipt
from muniment.storage.db.schema_version import newest_version
from tests.support.fake_paperless.fake import FakePaperless, fake_paperless
from tests.support.folders import shared_folder
from tests.support.running_server import RunningServer, wait_until
from tests.upgrade.backup import restore, superuser
from tests.upgrade.facts import AUDIT_EXPORT, FILE, Account, Facts, SavedDocument

FIXTURES = sorted(
    (path.parent for path in Path(__file__).parent.glob(f"*/{FILE}")), key=lambda folder: Version(folder.name)
)
KBS = "/api/v1/knowledge-bases"

pytestmark = pytest.mark.slow


class Upgraded:
    """The running installation, and the facts about it from before."""

    def __init__(self, fixture: Path, facts: Facts, installation: RunningServer, paperless: FakePaperless) -> None:
        self.fixture = fixture
        self.facts = facts
        self.installation = installation
        self.paperless = paperless
        self._opened = ExitStack()
        self._clients: dict[str, httpx.Client] = {}

    def client(self, account: Account) -> httpx.Client:
        """Return a client that has signed in with the stored password, once for all claims."""
        if account.email not in self._clients:
            client = self._opened.enter_context(self.anonymous())
            credentials = {"email": account.email, "password": account.password}
            answered(client.post("/api/v1/auth/login", json=credentials))
            self._clients[account.email] = client
        return self._clients[account.email]

    def anonymous(self, **headers: str) -> httpx.Client:
        return httpx.Client(base_url=self.installation.url, headers=headers, timeout=30, trust_env=False)

    @property
    def operator(self) -> httpx.Client:
        return self.client(self.facts.operator)

    @property
    def stranger(self) -> httpx.Client:
        return self.client(self.facts.stranger)

    def look(self, document: SavedDocument, client: httpx.Client | None = None) -> Any:
        return answered((client or self.operator).get(path_of(document)))

    def search(self, words: str, mode: str, client: httpx.Client | None = None) -> list[str]:
        """Return the documents found, best first, each once."""
        answer = answered((client or self.operator).get("/api/v1/search", params={"q": words, "mode": mode}))
        return list(dict.fromkeys(item["document_id"] for item in answer["items"]))

    def require_found(self, document: SavedDocument, client: httpx.Client | None = None) -> None:
        assert self.search(document.words, "text", client)[:1] == [document.id]
        # The order is up to the ranking; here nothing may be lost.
        assert document.id in self.search(document.question, "hybrid", client)[:3], document.name

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(superuser(self.installation.data_dir).conninfo) as connection:
            return connection.execute(statement.encode(), values).fetchall()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()


Claim = Callable[[Upgraded], None]
CLAIMS: list[Claim] = []


def claim(holds: Claim) -> Claim:
    """Register a function that must hold after an upgrade. Each one uses its own documents."""
    CLAIMS.append(holds)
    return holds


# One test per version, not per claim: a start takes ten seconds, and the processes of a parallel run share nothing.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fixture", [pytest.param(path, id=path.name) for path in FIXTURES])
def test_installation_of_an_earlier_version_works_with_the_present_code(
    fixture: Path, subtests: pytest.Subtests
) -> None:
    facts = Facts.load(fixture)
    with shared_folder() as folder, fake_paperless(folder) as paperless:
        restore(fixture, folder / "data", facts.reading)
        with _installation(folder, paperless) as installation:
            installation.start()
            with Upgraded(fixture, facts, installation, paperless) as upgraded:
                for holds in CLAIMS:
                    with subtests.test(holds.__name__):
                        holds(upgraded)
            assert installation.stop() == 0
            assert "Traceback" not in installation.said


def test_the_newest_installation_has_everything_that_is_checked() -> None:
    facts = Facts.load(FIXTURES[-1])
    assert [name for name, value in facts if not value] == []


def _installation(folder: Path, paperless: FakePaperless) -> RunningServer:
    return RunningServer(
        folder,
        PAPERLESS_URL=paperless.url,
        PAPERLESS_API_TOKEN=paperless.token,
        MUNIMENT_ARCHIVER_INTERVAL="1s",
    )


def answered(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


def path_of(document: SavedDocument) -> str:
    return f"{KBS}/{document.kb_id}/documents/{document.id}"


def receipt_of(upgraded: Upgraded, answer: httpx.Response) -> Any:
    """Return the receipt of a deletion after checking its signature."""
    path = f"/api/v1/receipts/{answered(answer)['receipt_id']}"
    # A purge that cannot verify every store at once responds with 202, and a sweep signs the receipt.
    wait_until(lambda: upgraded.operator.get(path).status_code == 200)
    return verify_receipt(upgraded.operator.get(path).text, upgraded.facts.public_key).record


@claim
def database_is_migrated_to_the_present_version(upgraded: Upgraded) -> None:
    assert upgraded.rows("SELECT version_num FROM alembic_version") == [(newest_version(),)]


@claim
def stored_passwords_and_the_api_token_sign_in(upgraded: Upgraded) -> None:
    facts = upgraded.facts
    for account in (facts.operator, facts.editor, facts.viewer, facts.stranger):
        me = answered(upgraded.client(account).get("/api/v1/auth/me"))
        assert (me["email"], me["organization_id"]) == (account.email, account.organization_id)
    with upgraded.anonymous(Authorization=f"Bearer {facts.editor_token}") as client:
        assert answered(client.get("/api/v1/auth/me"))["email"] == facts.editor.email


@claim
def members_keep_their_roles(upgraded: Upgraded) -> None:
    facts = upgraded.facts
    path = f"{KBS}/{facts.completed[0].kb_id}"
    for account, role in ((facts.operator, "owner"), (facts.editor, "editor"), (facts.viewer, "viewer")):
        assert answered(upgraded.client(account).get(path))["role"] == role
    refused = upgraded.client(facts.viewer).post(f"{path}/documents", files={"file": ("new.txt", b"New.")})
    assert refused.status_code == 403


@claim
def audit_log_verifies_up_to_the_heads_signed_before(upgraded: Upgraded) -> None:
    facts = upgraded.facts
    questions = ((facts.operator, False), (facts.stranger, False), (facts.operator, True))
    verdicts = [
        answered(upgraded.client(account).get("/api/v1/audit/verify", params={"installation": installation}))
        for account, installation in questions
    ]
    for verdict in verdicts:
        assert verdict["is_intact"], verdict["problems"]
    signed = {verdict["chain"]: verdict["signed_seq"] for verdict in verdicts}
    assert all(signed[chain] >= seq for chain, seq in facts.signed_seq.items())
    assert facts.signed_seq


@claim
def installation_signs_with_the_key_it_had(upgraded: Upgraded) -> None:
    facts = upgraded.facts
    found = answered(upgraded.operator.get("/api/v1/audit/key"))
    assert found["public_key"] == facts.public_key
    expected = [key for key in (facts.earlier_public_key, facts.public_key) if key]
    assert [key["public_key"] for key in found["keys"]] == expected


@claim
def signed_heads_are_still_objects_in_the_store(upgraded: Upgraded) -> None:
    heads = upgraded.installation.data_dir / "blobs" / "audit" / "heads"
    for chain, seq in upgraded.facts.signed_seq.items():
        assert f"{seq:019d}.json" in {path.name for path in (heads / chain).rglob("*.json")}


@claim
def audit_export_taken_before_verifies(upgraded: Upgraded) -> None:
    lines = lzma.decompress((upgraded.fixture / AUDIT_EXPORT).read_bytes()).splitlines(keepends=True)
    verdict = verify_file(lines, trusted_key=upgraded.facts.public_key)
    assert verdict.is_intact, verdict.problems
    assert verdict.last_seq == upgraded.facts.signed_seq[str(verdict.chain)]


@claim
def receipts_verify_as_kept_and_as_stored(upgraded: Upgraded) -> None:
    moves = []
    key = upgraded.facts.earlier_public_key or upgraded.facts.public_key
    for kept in upgraded.facts.receipts:
        stored = upgraded.operator.get(f"/api/v1/receipts/{kept['id']}")
        record = verify_receipt(stored.text, key).record
        assert record == kept["record"]
        moves.append(record["move"])
        assert verify_receipt(json.dumps(kept), key).record == record
    assert moves == ["purge", "clear"]


@claim
def completed_documents_are_found_by_words_and_by_meaning(upgraded: Upgraded) -> None:
    for document in upgraded.facts.completed:
        assert upgraded.look(document)["status"] == "completed"
        upgraded.require_found(document)


@claim
def originals_are_downloaded_unchanged(upgraded: Upgraded) -> None:
    for document in upgraded.facts.completed:
        content = upgraded.operator.get(f"{path_of(document)}/download").content
        assert hashlib.sha256(content).hexdigest() == document.sha256


@claim
def annotations_stay_at_their_paragraph(upgraded: Upgraded) -> None:
    note = upgraded.facts.annotation
    path = f"{KBS}/{note.kb_id}/documents/{note.document_id}"
    paragraphs = answered(upgraded.operator.get(f"{path}/paragraphs", params={"page_number": note.page}))["items"]
    [annotated] = [paragraph for paragraph in paragraphs if paragraph["paragraph_index"] == note.paragraph]
    assert (annotated["text"], annotated["annotations"]) == (note.text, note.annotations)
    assert annotated["stale_at"] is None
    assert answered(upgraded.operator.get(f"{path}/pages/{note.page}"))["flags"] == {"reviewed": True}


@claim
def unfinished_documents_are_processed(upgraded: Upgraded) -> None:
    for document in (upgraded.facts.processing, *upgraded.facts.pending):
        _wait_for(upgraded, document)
        upgraded.require_found(document)
    for document in upgraded.facts.foreign_pending:
        _wait_for(upgraded, document, upgraded.stranger)
        upgraded.require_found(document, upgraded.stranger)


@claim
def interrupted_run_continues_after_the_pages_that_were_stored(upgraded: Upgraded) -> None:
    document, parts = upgraded.facts.processing, upgraded.facts.partial_pages
    _wait_for(upgraded, document)
    # The run that completes a document releases the parts that it has looked for, and no others.
    released = upgraded.rows(
        "SELECT target FROM deletions WHERE document_id = %s AND next_attempt_at <= now()", document.id
    )
    assert {Path(target).name for (target,) in released} >= {Path(part).name for part in parts}
    assert "partial_pages_unusable" not in upgraded.installation.said


@claim
def replacement_is_completed_and_the_old_text_no_longer_found(upgraded: Upgraded) -> None:
    replaced = upgraded.facts.replaced
    _wait_for(upgraded, replaced)
    assert upgraded.look(replaced)["sha256"] == replaced.sha256
    upgraded.require_found(replaced)
    assert replaced.id not in upgraded.search(upgraded.facts.words_before_replacement, "text")


@claim
def failed_replacement_is_offered_retried_and_deleted(upgraded: Upgraded) -> None:
    if not (facts := upgraded.facts.failed_replacement):
        return
    document, path = facts.document, f"{path_of(facts.document)}/replace"
    offered = upgraded.look(document)["failed_replacement"]
    # The test gives it the time that it had left.
    assert {**offered, "expires_at": None} == {**facts.offered, "expires_at": None}
    assert answered(upgraded.operator.post(f"{path}/retry"))["status"] == "pending"
    _wait_for(upgraded, document)
    again = upgraded.look(document)
    assert (again["sha256"], again["failed_replacement"]["code"]) == (document.sha256, offered["code"])
    assert again["failed_replacement"]["at"] > offered["at"]
    answered(upgraded.operator.delete(f"{path}/failed"))
    assert upgraded.look(document)["failed_replacement"] is None
    revisions = upgraded.installation.data_dir / "blobs" / document.kb_id / document.id
    assert [folder.name for folder in revisions.iterdir()] == ["1"]
    upgraded.require_found(document)


@claim
def known_bytes_are_neither_read_nor_indexed_again(upgraded: Upgraded) -> None:
    known = upgraded.facts.completed[0]
    content = upgraded.operator.get(f"{path_of(known)}/download").content
    before = _artifacts_of(upgraded, known), _documents_spared(upgraded)
    sent = upgraded.operator.post(f"{KBS}/{known.kb_id}/documents", files={"file": ("copy.pdf", content)})
    copy = known.model_copy(update={"id": answered(sent)["id"]})
    _wait_for(upgraded, copy)
    assert _artifacts_of(upgraded, copy) == _artifacts_of(upgraded, known) == before[0]
    assert _documents_spared(upgraded) == before[1] + 1
    # Other claims expect to find these words in one document only.
    answered(upgraded.operator.post(f"{path_of(copy)}/archive"))


@claim
def archived_document_is_hidden_and_can_be_restored(upgraded: Upgraded) -> None:
    archived = upgraded.facts.archived_to_restore
    assert archived.id not in upgraded.search(archived.words, "text")
    assert answered(upgraded.operator.post(f"{path_of(archived)}/restore"))["status"] == "completed"
    upgraded.require_found(archived)


@claim
def archived_document_is_purged_with_a_receipt(upgraded: Upgraded) -> None:
    archived = upgraded.facts.archived_to_purge
    record = receipt_of(upgraded, upgraded.operator.delete(f"{path_of(archived)}/purge"))
    assert (record["move"], record["document"]["id"]) == ("purge", archived.id)
    assert not (upgraded.installation.data_dir / "blobs" / archived.kb_id / archived.id).exists()


@claim
def failed_document_is_cleared_with_a_receipt(upgraded: Upgraded) -> None:
    failed = upgraded.facts.failed
    assert upgraded.look(failed)["status"] == "failed"
    record = receipt_of(upgraded, upgraded.operator.delete(f"{path_of(failed)}/clear"))
    assert (record["move"], record["document"]["id"]) == ("clear", failed.id)


@claim
def queued_hand_overs_and_a_requeued_dead_letter_reach_paperless(upgraded: Upgraded) -> None:
    facts = upgraded.facts
    letters = answered(upgraded.operator.get("/api/v1/archive/dead-letters"))["items"]
    assert [letter["key"] for letter in letters] == [facts.dead_letter]
    answered(upgraded.operator.post(f"/api/v1/archive/dead-letters/{facts.dead_letter}/requeue"))
    wait_until(lambda: answered(upgraded.operator.get("/api/v1/archive/queue"))["total"] == 0)
    delivered = {document.sha256 for document in upgraded.paperless.documents()}
    assert delivered == {Path(key).stem for key in (*facts.queued_jobs, facts.dead_letter)}
    assert upgraded.look(facts.handed_over)["archive_status"] == "archived"
    assert answered(upgraded.operator.get("/api/v1/archive/dead-letters"))["total"] == 0


@claim
def history_of_a_hand_over_is_kept(upgraded: Upgraded) -> None:
    if not (before := upgraded.facts.handover):
        return
    path = f"/api/v1/organizations/{upgraded.facts.operator.organization_id}/archive/{before['document_id']}"
    found = answered(upgraded.operator.get(path))
    # Later versions show more events of the same time.
    known = [event for event in found["history"] if event in before["history"]]
    assert {**found, "history": known} == before


@claim
def organizations_do_not_see_each_other(upgraded: Upgraded) -> None:
    facts, stranger = upgraded.facts, upgraded.stranger
    own, foreign = facts.foreign, facts.completed[0]
    all_own = {document.id for document in (own, *facts.foreign_pending)}
    assert upgraded.search(own.words, "text", stranger) == [own.id]
    for mode in ("text", "hybrid", "vector"):
        assert set(upgraded.search(foreign.question, mode, stranger)) <= all_own
    assert _statuses(stranger.get, _paths(foreign)) == {404}
    assert _statuses(upgraded.operator.get, _paths(own)) == {404}
    assert [kb["id"] for kb in answered(stranger.get(KBS))["items"]] == [own.kb_id]
    assert answered(stranger.get("/api/v1/receipts"))["total"] == 0


@claim
def stores_are_consistent_after_all_of_this(upgraded: Upgraded) -> None:
    done = upgraded.installation.run("reconcile", "--read-data-subset=100%", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["drift"], report["losses"]) == (0, [], []), done.stderr
    for account in (upgraded.facts.operator, upgraded.facts.stranger):
        verdict = answered(upgraded.client(account).get("/api/v1/audit/verify"))
        assert verdict["is_intact"], verdict["problems"]


def _paths(document: SavedDocument) -> Sequence[str]:
    path = path_of(document)
    return (f"{KBS}/{document.kb_id}", path, f"{path}/download", f"{path}/pages/1", f"{path}/text")


@claim
def vectors_of_the_old_form_are_moved(upgraded: Upgraded) -> None:
    wait_until(lambda: upgraded.rows("SELECT FROM artifact_indexes WHERE vectors_in_chunks") == [])
    different = """SELECT count(*) FROM artifact_chunks c LEFT JOIN artifact_vectors v
                    USING (artifact_text_id, fingerprint, chunk_index)
                    WHERE c.embedding IS NOT NULL AND c.embedding IS DISTINCT FROM v.embedding"""
    assert upgraded.rows(different) == [(0,)]


def _statuses(get: Callable[[str], httpx.Response], paths: Sequence[str]) -> set[int]:
    return {get(path).status_code for path in paths}


def _wait_for(upgraded: Upgraded, document: SavedDocument, client: httpx.Client | None = None) -> None:
    wait_until(lambda: upgraded.look(document, client)["status"] not in ("pending", "processing"))
    found = upgraded.look(document, client)
    assert found["status"] == "completed", found["last_error"]


def _documents_spared(upgraded: Upgraded) -> int:
    return int(answered(upgraded.operator.get("/api/v1/artifacts/savings"))["documents"])


def _artifacts_of(upgraded: Upgraded, document: SavedDocument) -> list[tuple[Any, ...]]:
    """Return the text artifact of a document and all its indexes."""
    return upgraded.rows(
        "SELECT artifact_text_id, i.fingerprint FROM documents d JOIN artifact_indexes i USING (artifact_text_id)"
        " WHERE d.id = %s ORDER BY i.fingerprint",
        document.id,
    )
