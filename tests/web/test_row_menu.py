from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.web.demo_organization import DemoOrganization, add_member, new_kb, upload, wait_until_final
from tests.web.documents_page import (
    BROKEN_PDF,
    PATIENCE_MS,
    being_read,
    choose,
    long_scan,
    open_kb,
    open_menu,
    pick_files,
    row,
)
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def offered(menu: Locator) -> list[str]:
    return [item.inner_text().split("\n")[0] for item in menu.get_by_role("menuitem").all()]


def test_each_state_offers_what_can_be_done_and_a_viewer_only_looks(office: DemoOrganization, windows: Windows) -> None:
    owner, viewer, editor = office.add_person(), office.add_person("viewer"), office.add_person("editor")
    kb_id = new_kb(owner)
    add_member(owner, kb_id, viewer, "viewer")
    add_member(owner, kb_id, editor, "editor")
    wait_until_final(owner, kb_id, [upload(owner, kb_id, "good.txt"), upload(owner, kb_id, "bad.pdf", BROKEN_PDF)])
    looking = ["Open", "Download", "Status details"]
    expected = {
        owner.email: (["Replace…", "Archive…"], ["Retry", "Replace…", "Clear…"]),
        editor.email: ([], ["Retry"]),
        viewer.email: ([], []),
    }
    for person in (owner, editor, viewer):
        page = windows.open(person).page
        open_kb(page, kb_id)
        for name, more in zip(("good.txt", "bad.pdf"), expected[person.email], strict=True):
            assert offered(open_menu(page, name)) == looking + more
            page.keyboard.press("Escape")
        assert page.get_by_role("checkbox").count() == (3 if person is owner else 0)


def test_while_processing_changes_are_off_with_their_reason_and_it_can_be_cancelled(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    with being_read(owner, kb_id, "long.txt"):
        window = windows.open(owner)
        page = window.page
        open_kb(page, kb_id)
        menu = open_menu(page, "long.txt")
        expect(menu.get_by_text("Cannot modify while processing")).to_be_visible()
        window.shoot("documents-menu-processing")
        for name in ("Replace…", "Archive…"):
            item = menu.get_by_role("menuitem", name=name)
            expect(item).to_have_attribute("aria-disabled", "true")
            expect(item).to_have_accessible_description("Cannot modify while processing")
            item.click(force=True)
            expect(menu).to_be_visible()
        menu.get_by_role("menuitem", name="Cancel processing…").click()
        dialog = page.get_by_role("dialog", name="Cancel processing of 'long.txt'?")
        dialog.get_by_role("button", name="Cancel processing").click()
        expect(row(page, "long.txt")).to_contain_text("Failed", timeout=PATIENCE_MS)
        expect(row(page, "long.txt")).to_contain_text("Processing cancelled by user")


def test_a_failed_document_is_retried_and_cleared_in_the_words_of_the_specification(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "bad.pdf", BROKEN_PDF)
    wait_until_final(owner, kb_id, [document_id])
    page = windows.open(owner).page
    open_kb(page, kb_id)
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    runs = owner.api.get(f"{url}/runs").json()["total"]
    choose(page, "bad.pdf", "Retry")
    expect(page.get_by_text("Retrying 'bad.pdf'")).to_be_visible()
    wait_until_final(owner, kb_id, [document_id])
    assert owner.api.get(f"{url}/runs").json()["total"] == runs + 1
    expect(row(page, "bad.pdf")).to_contain_text("Failed", timeout=PATIENCE_MS)
    choose(page, "bad.pdf", "Clear…")
    dialog = page.get_by_role("dialog", name="Clear failed document 'bad.pdf'? All partial data will be removed.")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Clear").click()
    expect(row(page, "bad.pdf")).to_be_hidden()
    expect(page.get_by_text("Cleared 'bad.pdf'")).to_be_visible()
    assert owner.api.get(url).status_code == 404


def test_a_replacement_keeps_the_document_and_one_that_cannot_be_read_is_reverted(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "lease.txt", b"The first version.")
    wait_until_final(owner, kb_id, [document_id])
    second, broken = tmp_path / "lease v2.txt", tmp_path / "lease v3.pdf"
    second.write_text("The second version, which is longer.")
    broken.write_bytes(BROKEN_PDF)
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    question = "This will delete the existing document and upload the new version. Continue?"

    with page.expect_file_chooser() as chooser:
        choose(page, "lease.txt", "Replace…")
    chooser.value.set_files(str(second))
    dialog = page.get_by_role("dialog", name=question)
    expect(dialog).to_contain_text("lease v2.txt")
    dialog.get_by_role("button", name="Cancel").click()
    pick_files(page, [second], kind="replacement")
    dialog.get_by_role("button", name="Replace").click()
    expect(row(page, "lease v2.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    assert owner.api.get(f"{url}/download").content == second.read_bytes()

    with page.expect_file_chooser() as chooser:
        choose(page, "lease v2.txt", "Replace…")
    chooser.value.set_files(str(broken))
    expect(dialog).to_contain_text("If it cannot be read, the existing version is restored automatically")
    expect(dialog).to_contain_text("your file is kept for 7 days")
    dialog.get_by_role("button", name="Replace").click()
    failure = row(page, "lease v2.txt").get_by_role("button", name="Replacement failed")
    expect(failure).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text("Replace failed, the previous version was restored.")).to_be_visible()
    window.shoot("documents-replace-failed")
    assert owner.api.get(f"{url}/download").content == second.read_bytes()
    failure.click()
    failed = page.get_by_role("dialog", name="The replacement failed")
    expect(failed).to_contain_text("'lease v3.pdf' could not be read, so the previous version was restored.")
    expect(failed).to_contain_text("The PDF is damaged or incomplete")
    window.shoot("failed-replacement")
    failed.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Trying 'lease v3.pdf' again")).to_be_visible()
    wait_until_final(owner, kb_id, [document_id])
    choose(page, "lease v2.txt", "Failed replacement…")
    failed.get_by_role("button", name="Delete file").click()
    expect(page.get_by_text("Deleted 'lease v3.pdf'")).to_be_visible()
    expect(failure).to_be_hidden()
    assert owner.api.get(url).json()["failed_replacement"] is None


def test_a_cancelled_replacement_is_reverted_from_its_row(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "lease.txt", b"The first version.")
    wait_until_final(owner, kb_id, [document_id])
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    assert owner.api.post(f"{url}/replace", files={"file": ("lease v2.txt", long_scan())}).is_success
    assert owner.api.post(f"{url}/cancel").is_success
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    row(page, "lease v2.txt").get_by_role("button", name="Revert to previous version").click()
    back = page.get_by_role("dialog", name="The new file could not be processed")
    expect(back).to_contain_text("Processing cancelled by user")
    window.shoot("bring-back")
    back.get_by_role("button", name="Revert to previous version").click()
    expect(page.get_by_text("Reverted 'lease.txt'")).to_be_visible()
    expect(row(page, "lease.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert owner.api.get(f"{url}/download").content == b"The first version."


def test_explain_gives_reasons_and_obstacles(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    wait_until_final(owner, kb_id, [upload(owner, kb_id, "bad.pdf", BROKEN_PDF)])
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    choose(page, "bad.pdf", "Status details")
    dialog = page.get_by_role("dialog", name="Status of 'bad.pdf'")
    expect(dialog).to_contain_text("Processing failed: The PDF is damaged")
    expect(dialog).to_contain_text("You can process it again.")
    expect(dialog).to_contain_text("Only completed documents can be archived")
    window.shoot("documents-explain")


def test_download_saves_the_file_and_leaves_the_page(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    wait_until_final(owner, kb_id, [upload(owner, kb_id, "page.html", b"<script>window.ran = 1</script><p>Hello</p>")])
    page = windows.open(owner).page
    open_kb(page, kb_id)
    with page.expect_download() as download:
        choose(page, "page.html", "Download")
    assert download.value.suggested_filename == "page.html"
    expect(page.get_by_role("heading", level=1)).to_have_text("Contracts and invoices")
