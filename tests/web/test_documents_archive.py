import pytest
from playwright.sync_api import expect

from tests.web.demo_organization import DemoOrganization, SignedInPerson, new_kb, upload, wait_until_final
from tests.web.documents_page import PATIENCE_MS, being_read, choose, open_kb, row
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def status_of(person: SignedInPerson, kb_id: str, document_id: str) -> str:
    return str(person.api.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}").json()["status"])


def test_an_archived_document_stays_in_its_place_until_undo_or_its_time_is_over(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    ids = [upload(owner, kb_id, name) for name in ("above.txt", "lease.txt", "below.txt")]
    wait_until_final(owner, kb_id, ids)
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    choose(page, "lease.txt", "Archive…")
    dialog = page.get_by_role("dialog", name="Archive 'lease.txt'? It will be removed from search results.")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert status_of(owner, kb_id, ids[1]) == "completed"

    choose(page, "lease.txt", "Archive…")
    dialog.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("status").filter(has_text="Archived 'lease.txt'")).to_be_visible()
    expect(page.locator("tbody tr").nth(1)).to_contain_text("lease.txt")
    expect(row(page, "lease.txt").get_by_role("button", name="Undo")).to_be_visible()
    window.shoot("documents-archived")
    assert status_of(owner, kb_id, ids[1]) == "archived"
    row(page, "lease.txt").get_by_role("button", name="Undo").click()
    expect(row(page, "lease.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert status_of(owner, kb_id, ids[1]) == "completed"

    choose(page, "lease.txt", "Archive…")
    dialog.get_by_role("button", name="Archive").click()
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").last.click()
    expect(page.get_by_text("Restored 'lease.txt'").last).to_be_visible()
    expect(row(page, "lease.txt")).to_contain_text("Completed")
    expect(row(page, "lease.txt").get_by_role("button", name="Undo")).to_be_hidden()
    choose(page, "lease.txt", "Archive…")
    dialog.get_by_role("button", name="Archive").click()
    expect(row(page, "lease.txt")).to_contain_text("Archived")
    expect(row(page, "lease.txt")).to_be_hidden(timeout=PATIENCE_MS)
    expect(page.locator("tbody tr")).to_have_count(2)


def test_archive_selected_says_how_many_go_and_what_was_skipped(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    ids = [upload(owner, kb_id, name) for name in ("one.txt", "two.txt")]
    bad = upload(owner, kb_id, "bad.pdf", b"%PDF-1.7 nothing")
    wait_until_final(owner, kb_id, [*ids, bad])
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    page.get_by_role("checkbox", name="Select all on this page").check()
    dock = page.get_by_role("toolbar", name="Selected documents")
    expect(dock).to_contain_text("3 selected")
    window.shoot("documents-selected")
    dock.get_by_role("button", name="Archive selected (3)").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("They will be removed from search results.")
    expect(dialog).to_contain_text("1 selected document is not completed and will be skipped.")
    dialog.get_by_role("button", name="Archive").click()
    notice = page.get_by_role("region", name="Notifications")
    expect(notice).to_contain_text("2 documents archived, 1 skipped")
    assert [status_of(owner, kb_id, one) for one in [*ids, bad]] == ["archived", "archived", "failed"]
    expect(dock).to_be_hidden()
    notice.get_by_role("button", name="Undo").click()
    expect(row(page, "one.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
    expect(row(page, "two.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)


def test_what_is_being_read_is_skipped_by_archive_selected(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    with being_read(owner, kb_id, "long.txt"):
        page = windows.open(owner).page
        open_kb(page, kb_id)
        page.get_by_role("checkbox", name="Select long.txt").check()
        page.get_by_role("button", name="Archive selected (1)").click()
        dialog = page.get_by_role("dialog", name="Only completed documents can be archived")
        expect(dialog.get_by_role("button", name="Archive")).to_be_hidden()
        dialog.get_by_role("button", name="Cancel").click()
