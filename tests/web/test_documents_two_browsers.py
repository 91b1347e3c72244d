import pytest
from playwright.sync_api import expect

from tests.web.demo_organization import DemoOrganization, new_kb, upload, wait_until_final
from tests.web.documents_page import PATIENCE_MS, choose, open_kb, open_menu, row
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_what_one_archives_leaves_the_list_of_the_other(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    wait_until_final(owner, kb_id, [upload(owner, kb_id, name) for name in ("lease.txt", "stays.txt")])
    one, other = windows.open(owner).page, windows.open(owner).page
    for page in (one, other):
        open_kb(page, kb_id)
        expect(row(page, "lease.txt")).to_be_visible()
    choose(one, "lease.txt", "Archive…")
    one.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(row(other, "lease.txt")).to_be_hidden(timeout=PATIENCE_MS)
    expect(row(other, "stays.txt")).to_be_visible()
    row(one, "lease.txt").get_by_role("button", name="Undo").click()
    expect(row(other, "lease.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)


def test_a_document_that_another_has_purged_is_refused_in_the_servers_words(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    lease, stays = upload(owner, kb_id, "lease.txt"), upload(owner, kb_id, "stays.txt")
    wait_until_final(owner, kb_id, [lease, stays])
    page = windows.open(owner).page
    open_kb(page, kb_id)
    # The dialog is open when another user is faster.
    choose(page, "lease.txt", "Archive…")
    dialog = page.get_by_role("dialog")
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{lease}"
    assert owner.api.post(f"{url}/archive").is_success
    assert owner.api.delete(f"{url}/purge").is_success
    dialog.get_by_role("button", name="Archive").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Document not found")
    dialog.get_by_role("button", name="Cancel").click()
    expect(row(page, "lease.txt")).to_be_hidden(timeout=PATIENCE_MS)
    assert open_menu(page, "stays.txt").is_visible()


def test_an_undo_of_what_another_has_purged_says_that_it_is_not_there(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    lease = upload(owner, kb_id, "lease.txt")
    wait_until_final(owner, kb_id, [lease])
    page = windows.open(owner).page
    open_kb(page, kb_id)
    choose(page, "lease.txt", "Archive…")
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    undo = row(page, "lease.txt").get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    assert owner.api.delete(f"/api/v1/knowledge-bases/{kb_id}/documents/{lease}/purge").is_success
    undo.click()
    notice = page.get_by_role("region", name="Notifications").get_by_role("alert")
    expect(notice).to_contain_text("Document not found")
    expect(row(page, "lease.txt")).to_be_hidden(timeout=PATIENCE_MS)


def test_a_right_that_was_taken_away_shows_in_what_is_offered(office: DemoOrganization, windows: Windows) -> None:
    owner, colleague = office.add_person(), office.add_person("colleague")
    kb_id = new_kb(owner)
    wait_until_final(owner, kb_id, [upload(owner, kb_id, "lease.txt")])
    page = windows.open(owner).page
    open_kb(page, kb_id)
    choose(page, "lease.txt", "Archive…")
    url = f"/api/v1/knowledge-bases/{kb_id}"
    assert owner.api.patch(url, json={"owner_id": colleague.id}).is_success
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Archive").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Permission denied")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("checkbox")).to_have_count(0, timeout=PATIENCE_MS)
