"""The audit log: filtered, exported, verified."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.running_server import RunningServer, wait_until
from tests.web.archived_documents import add_archived, move, run_sql
from tests.web.demo_organization import DemoOrganization, SignedInPerson, new_kb, upload, wait_until_final
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_lines_are_filtered_by_action_person_place_and_document(office: DemoOrganization, windows: Windows) -> None:
    owner, admin = office.add_person(), office.add_person("admin", is_admin=True)
    contracts, minutes = new_kb(owner), new_kb(owner, "Board minutes")
    [lease] = add_archived(owner, contracts, "Lease.txt").values()
    add_archived(owner, minutes, "Minutes.txt")
    move(admin, contracts, lease, "restore")
    window = windows.open(admin)
    page = window.page
    page.goto("/audit")
    lines = page.locator("tbody tr")
    expect(page.get_by_role("button", name="Details: Restored Lease.txt")).to_be_visible()
    window.shoot("audit")

    page.get_by_role("button", name=re.compile("^Action")).click()
    page.get_by_role("menuitemradio", name="Archived", exact=True).click()
    expect(lines).to_have_count(2)
    page.get_by_role("button", name=re.compile("^Knowledge base")).click()
    page.get_by_role("menuitemradio", name="Board minutes").click()
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("Minutes.txt")
    expect(lines).to_contain_text(owner.email)
    expect(page).to_have_url(re.compile(rf"action=document_archived&kb={minutes}"))

    page.goto(f"/audit?document={lease}&actor={admin.id}")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("Restored")
    page.get_by_role("button", name="Show all documents").click()
    expect(page.get_by_role("button", name=re.compile("Signed in")).first).to_be_visible()

    page.goto(f"/audit?document={lease}&to=2020-01-01")
    expect(page.get_by_text("No events match these filters")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(lines.first).to_be_visible()


def test_a_line_shows_its_details_and_its_seal(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    lease = upload(owner, kb_id, "Lease.txt")
    wait_until_final(owner, kb_id, [lease])
    wait_until(lambda: all(line["sealed"] for line in lines_of(owner, lease)))
    [uploaded] = [line for line in lines_of(owner, lease) if line["action"] == "document_uploaded"]
    window = windows.open(owner)
    page = window.page
    page.goto(f"/audit?document={lease}")
    page.get_by_role("button", name="Details: Uploaded Lease.txt").click()
    dialog = page.get_by_role("dialog", name="Uploaded Lease.txt")
    expect(dialog.get_by_text(uploaded["payload"]["sha256"])).to_be_visible()
    expect(dialog.get_by_text(f"#{uploaded['seq']}", exact=True)).to_be_visible()
    expect(dialog.get_by_text(owner.email)).to_be_visible()
    window.shoot("audit-details")


def lines_of(person: SignedInPerson, document_id: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = person.api.get("/api/v1/audit", params={"document_id": document_id}).json()["items"]
    return items


def test_the_chain_is_verified_and_the_export_proves_itself(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    admin = office.add_person("admin", is_admin=True)
    add_archived(admin, new_kb(admin), "Lease.txt")
    window = windows.open(admin)
    page = window.page
    page.goto("/audit?action=document_archived")
    page.get_by_role("button", name="Verify").click()
    verdict = page.get_by_role("status").filter(has_text="The audit log is intact")
    expect(verdict).to_contain_text("Nothing has been changed, removed or reordered.")
    window.shoot("audit-verified")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="JSON Lines (verifiable offline)").click()
    file = tmp_path / "audit.jsonl"
    download.value.save_as(file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    actions = {line["action"] for line in lines if line["kind"] == "event"}
    assert actions == {"document_archived"}
    checked = office.muniment.run("audit", "verify", str(file))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_tampered_chain_is_reported_line_by_line(office: DemoOrganization, windows: Windows) -> None:
    admin = office.add_person("admin", is_admin=True)
    kb_id = new_kb(admin)
    lease = upload(admin, kb_id, "Lease.txt")
    wait_until_final(admin, kb_id, [lease])
    wait_until(lambda: all(line["sealed"] for line in lines_of(admin, lease)))
    [uploaded] = [line for line in lines_of(admin, lease) if line["action"] == "document_uploaded"]
    tamper(office.muniment, uploaded["id"])
    window = windows.open(admin)
    page = window.page
    page.goto("/audit")
    page.get_by_role("button", name="Verify").click()
    alert = page.get_by_role("alert").filter(has_text="Verification failed: 1 problem")
    expect(alert).to_contain_text(f"#{uploaded['seq']}:")
    window.shoot("audit-broken")


def tamper(muniment: RunningServer, event_id: str) -> None:
    """Change an event as the superuser of the database could."""
    rename = "UPDATE audit_events SET payload = jsonb_set(payload, '{doc_name}', '\"Other.txt\"') WHERE id = %s"
    run_sql(muniment, rename, event_id, triggers=False)
