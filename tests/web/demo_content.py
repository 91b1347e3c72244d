"""One organization with content for every page. Tests must not change it."""

from dataclasses import dataclass

import httpx

from tests.support.running_server import RunningServer
from tests.web.demo_organization import (
    DemoOrganization,
    SignedInPerson,
    add_member,
    create_demo_organization,
    new_kb,
    upload,
    wait_until_final,
)

KB = "Contracts and invoices"
OTHER_KBS = ("Board minutes", "Buildings and energy", "Care plans", "Quality handbook")
LONG = "Wartungsvertrag Aufzug Hebewerk Nord mit Nachtrag und Anlagen 2024–2029, unterschrieben.txt"
NAMES = (LONG, "Lease Havnegata 12.txt", "Strømavtale 2026.md", "<img src=x onerror=alert(1)>.txt", "عقد الإيجار.txt")
SHARED_EMAIL, SHARED_PASSWORD = "two.organizations@example.org", "correct horse battery"
"""Open accounts in several organizations."""
PASSAGE = "The tenant pays the rent on the third working day of the month."


@dataclass
class DemoContent:
    office: DemoOrganization
    owner: SignedInPerson
    """Owns the knowledge base and has no other role."""
    viewer: SignedInPerson
    admin: SignedInPerson
    """An admin and operator."""
    newcomer: SignedInPerson
    """Has no knowledge base yet."""
    kb_id: str
    document_ids: list[str]
    """Completed, in the order of `NAMES`; the last one is archived."""
    failed_id: str


def create_demo_content(muniment: RunningServer, operator: httpx.Client) -> DemoContent:
    office = create_demo_organization(muniment, operator)
    owner, viewer, newcomer = office.add_person("owner"), office.add_person("viewer"), office.add_person("newcomer")
    admin = office.add_person("admin", is_admin=True, is_operator=True)
    for organization in (office, create_demo_organization(muniment, operator)):
        organization.add_account(SHARED_EMAIL, SHARED_PASSWORD)
    for name in OTHER_KBS:
        new_kb(owner, name)
    kb_id = new_kb(owner, KB)
    add_member(owner, kb_id, viewer, "viewer")
    ids = [upload(owner, kb_id, name, f"{PASSAGE}\n\n{name}".encode()) for name in NAMES]
    failed_id = upload(owner, kb_id, "Lieferschein.pdf", b"%PDF-1.7 and nothing behind it")
    wait_until_final(owner, kb_id, [*ids, failed_id])
    answer = owner.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents/{ids[-1]}/archive")
    assert answer.status_code == 200, answer.text
    owner.api.post("/api/v1/auth/tokens", json={"name": "invoicing backend"})
    return DemoContent(office, owner, viewer, admin, newcomer, kb_id, ids, failed_id)
