from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.running_server import wait_until
from tests.web.demo_organization import DemoOrganization, SignedInPerson, add_member, new_kb, upload, wait_until_final
from tests.web.documents_page import BROKEN_PDF, PATIENCE_MS, being_read, drop, line, long_scan, open_kb, row, tray
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

TITLE = "A document with this name already exists"
QUESTION = "This will delete the existing document and upload the new version. Continue?"


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    file = tmp_path / "lease.txt"
    file.write_text("The second version, which is longer than the first.")
    return file


def dialog(page: Page, name: str = TITLE) -> Locator:
    return page.get_by_role("dialog", name=name)


def press(page: Page, button: str, name: str = TITLE) -> None:
    dialog(page, name).get_by_role("button", name=button, exact=True).click()


def buttons(page: Page, name: str = TITLE) -> list[str]:
    expect(dialog(page, name)).to_be_visible()
    return [button.inner_text() for button in dialog(page, name).get_by_role("button").all()]


def content(person: SignedInPerson, kb_id: str, document_id: str) -> bytes:
    return person.api.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/download").content


def test_an_active_twin_is_replaced_after_a_second_question_and_cancel_changes_nothing(
    office: DemoOrganization, windows: Windows, lease: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "lease.txt", b"The first version.")
    wait_until_final(owner, kb_id, [document_id])
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    drop(page, lease)
    assert buttons(page) == ["Cancel", "Replace Existing"]
    expect(dialog(page)).to_contain_text("33\u00a0B larger.")
    expect(dialog(page).get_by_role("row", name="Status")).to_contain_text("Completed")
    expect(dialog(page).get_by_role("button", name="Cancel")).to_be_focused()
    window.shoot("duplicate-active")
    press(page, "Replace Existing")
    assert buttons(page, QUESTION) == ["Back", "Cancel", "Replace"]
    expect(dialog(page, QUESTION).get_by_role("button", name="Cancel")).to_be_focused()
    window.shoot("duplicate-confirm")
    press(page, "Back", QUESTION)
    press(page, "Cancel")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(tray(page)).to_be_hidden()
    assert content(owner, kb_id, document_id) == b"The first version."

    drop(page, lease)
    press(page, "Replace Existing")
    press(page, "Replace", QUESTION)
    expect(line(page, "lease.txt")).to_contain_text("Done", timeout=PATIENCE_MS)
    assert content(owner, kb_id, document_id) == lease.read_bytes()
    assert owner.api.get(f"/api/v1/knowledge-bases/{kb_id}/documents").json()["total"] == 1


def test_an_archived_twin_is_restored_and_nothing_is_uploaded(
    office: DemoOrganization, windows: Windows, lease: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "lease.txt", b"The first version.")
    wait_until_final(owner, kb_id, [document_id])
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    assert owner.api.post(f"{url}/archive").is_success
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    drop(page, lease)
    assert buttons(page) == ["Cancel", "Replace Archived", "Restore Existing"]
    expect(dialog(page).get_by_role("row", name="Status")).to_contain_text("Archived")
    expect(dialog(page).get_by_role("button", name="Restore Existing")).to_be_focused()
    window.shoot("duplicate-archived")
    press(page, "Restore Existing")
    expect(page.get_by_text("Restored 'lease.txt'")).to_be_visible()
    expect(row(page, "lease.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert content(owner, kb_id, document_id) == b"The first version."


def test_an_archived_twin_is_replaced(office: DemoOrganization, windows: Windows, lease: Path) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "lease.txt", b"The first version.")
    wait_until_final(owner, kb_id, [document_id])
    assert owner.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/archive").is_success
    page = windows.open(owner).page
    open_kb(page, kb_id)
    drop(page, lease)
    press(page, "Replace Archived")
    press(page, "Replace", QUESTION)
    expect(row(page, "lease.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert content(owner, kb_id, document_id) == lease.read_bytes()


def test_a_twin_that_is_being_read_offers_cancel_and_turns_into_the_active_form(
    office: DemoOrganization, windows: Windows, lease: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    with being_read(owner, kb_id, "lease.txt") as document_id:
        window = windows.open(owner)
        page = window.page
        open_kb(page, kb_id)
        drop(page, lease)
        assert buttons(page) == ["Cancel"]
        expect(dialog(page)).to_contain_text("Cannot replace document while processing is in progress")
        window.shoot("duplicate-processing")
        url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
        # Its processing ends and the next attempt waits: from then on it can be replaced.
        owner.api.post(f"{url}/cancel")
        expect(dialog(page).get_by_role("button", name="Replace")).to_be_visible(timeout=PATIENCE_MS)
        press(page, "Cancel")


def test_a_cancelled_replacement_offers_the_previous_version(
    office: DemoOrganization, windows: Windows, lease: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "lease.txt", b"The first version.")
    wait_until_final(owner, kb_id, [document_id])
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    assert owner.api.post(f"{url}/replace", files={"file": ("lease.txt", long_scan())}).is_success
    assert owner.api.post(f"{url}/cancel").is_success
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    drop(page, lease)
    expect(dialog(page).get_by_role("button", name="Revert to previous version")).to_be_visible()
    assert buttons(page) == ["Cancel", "Replace", "Revert to previous version"]
    window.shoot("duplicate-failed")
    press(page, "Revert to previous version")
    expect(page.get_by_text("Reverted 'lease.txt'")).to_be_visible()
    expect(row(page, "lease.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert content(owner, kb_id, document_id) == b"The first version."


def test_a_failed_upload_is_cleared_and_the_page_says_so(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    wait_until_final(owner, kb_id, [upload(owner, kb_id, "scan.txt", BROKEN_PDF)])
    good = tmp_path / "scan.txt"
    good.write_text("This one can be read.")
    page = windows.open(owner).page
    open_kb(page, kb_id)
    expect(row(page, "scan.txt")).to_contain_text("Failed")
    drop(page, good)
    notice = page.get_by_role("region", name="Notifications")
    expect(notice).to_contain_text("Previous failed upload 'scan.txt' was automatically cleared")
    expect(row(page, "scan.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)


def test_several_twins_are_asked_about_in_turn_and_equal_ones_at_once(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    active = [upload(owner, kb_id, f"active {number}.txt", b"old") for number in range(3)]
    archived = upload(owner, kb_id, "archived.txt", b"old")
    wait_until_final(owner, kb_id, [*active, archived])
    assert owner.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents/{archived}/archive").is_success
    for name in ("active 0.txt", "active 1.txt", "active 2.txt", "archived.txt"):
        (tmp_path / name).write_text("the new version")
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    drop(page, *sorted(tmp_path.iterdir()))
    expect(dialog(page).get_by_text("1 of 4")).to_be_visible()
    press(page, "Cancel")
    expect(dialog(page).get_by_text("2 of 4")).to_be_visible()
    window.shoot("duplicate-several")
    rest = dialog(page).get_by_role("checkbox", name="Apply to all remaining (1)")
    rest.check()
    press(page, "Replace Existing")
    expect(dialog(page, QUESTION)).to_contain_text("This also applies to 1 more.")
    press(page, "Replace", QUESTION)
    expect(dialog(page).get_by_text("4 of 4")).to_be_visible()
    expect(dialog(page).get_by_role("checkbox")).to_have_count(0)
    press(page, "Cancel")
    # The page closes the dialog before the second replacement is sent.
    wait_until(lambda: [content(owner, kb_id, one) for one in active].count(b"the new version") == 2)
    assert content(owner, kb_id, archived) == b"old"


def test_whoever_may_add_and_not_replace_is_told_why_there_is_only_cancel(
    office: DemoOrganization, windows: Windows, lease: Path
) -> None:
    owner, editor = office.add_person(), office.add_person("editor")
    kb_id = new_kb(owner)
    add_member(owner, kb_id, editor, "editor")
    wait_until_final(owner, kb_id, [upload(owner, kb_id, "lease.txt", b"The first version.")])
    page = windows.open(editor).page
    open_kb(page, kb_id)
    drop(page, lease)
    expect(dialog(page)).to_contain_text("Only the owner or an admin can replace or restore this document.")
    assert buttons(page) == ["Cancel"]


def test_a_replace_that_is_refused_says_so_and_the_original_is_untouched(
    office: DemoOrganization, windows: Windows, lease: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "lease.txt", b"The first version.")
    wait_until_final(owner, kb_id, [document_id])
    lease.write_bytes(b"")  # cannot be processed
    page = windows.open(owner).page
    open_kb(page, kb_id)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Actions for lease.txt").click()
        page.get_by_role("menuitem", name="Replace…").click()
    chooser.value.set_files(str(lease))
    press(page, "Replace", QUESTION)
    failed = line(page, "lease.txt").get_by_role("alert")
    expect(failed).to_contain_text("Replace failed, nothing changed.")
    expect(row(page, "lease.txt")).to_contain_text("Completed")
    assert content(owner, kb_id, document_id) == b"The first version."


def test_a_twin_that_is_purged_meanwhile_gives_the_name_free(
    office: DemoOrganization, windows: Windows, lease: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "lease.txt", b"The first version.")
    wait_until_final(owner, kb_id, [document_id])
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    assert owner.api.post(f"{url}/archive").is_success
    page = windows.open(owner).page
    open_kb(page, kb_id)
    drop(page, lease)
    expect(dialog(page)).to_be_visible()
    assert owner.api.delete(f"{url}/purge").is_success
    press(page, "Restore Existing")
    expect(dialog(page)).to_contain_text("The existing document is gone.", timeout=PATIENCE_MS)
    press(page, "Upload")
    expect(row(page, "lease.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
