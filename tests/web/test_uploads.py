from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.demo_organization import DemoOrganization, add_member, new_kb
from tests.web.documents_page import PATIENCE_MS, drop, line, names, open_kb, pick_files, row, tray
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_a_dropped_folder_is_read_and_its_sentence_is_found(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    folder = tmp_path / "Leases"
    (folder / "2026" / ".git").mkdir(parents=True)
    (folder / "harbour.txt").write_text("The tenant of the boathouse pays on the third of the month.")
    (folder / "2026" / "quay.txt").write_text("The quay is let until midsummer.")
    for litter in (".DS_Store", "2026/Thumbs.db", "2026/._quay.txt", "2026/.git/config"):
        (folder / litter).write_text("litter")
    alone = tmp_path / "alone.txt"
    alone.write_text("A single file beside the folder.")
    page = windows.open(owner).page
    open_kb(page, kb_id)

    drop(page, folder, alone, release=False)
    expect(page.get_by_text("Drop to upload to 'Contracts and invoices'")).to_be_visible()
    drop(page, folder, alone)
    expect(page.get_by_text("Drop to upload to")).to_be_hidden()
    for name in ("harbour.txt", "quay.txt", "alone.txt"):
        expect(row(page, name)).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert sorted(names(page)) == ["alone.txt", "harbour.txt", "quay.txt"]
    found = owner.api.get("/api/v1/search", params={"q": "boathouse", "kb_id": kb_id}).json()
    assert found["items"][0]["document_name"] == "harbour.txt"


def test_chosen_files_get_the_chosen_type_and_their_line_leaves_when_they_are_done(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    bill = tmp_path / "bill.txt"
    bill.write_text("Forty kroner.")
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    expect(page.get_by_role("button", name="Choose folder")).to_be_visible()
    window.shoot("documents-empty")
    page.get_by_role("button", name="More upload options").click()
    page.get_by_role("menuitemradio", name="Invoice").click()
    pick_files(page, [bill])
    expect(line(page, "bill.txt")).to_contain_text("Done", timeout=PATIENCE_MS)
    expect(row(page, "bill.txt")).to_contain_text("Invoice")
    expect(line(page, "bill.txt")).to_be_hidden(timeout=PATIENCE_MS)
    expect(tray(page)).to_be_hidden()


def test_what_the_server_refuses_stays_with_its_reason_and_can_be_tried_again(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    url = f"/api/v1/knowledge-bases/{kb_id}/documents"
    refused = owner.api.post(url, files={"file": ("empty.txt", b"")}).json()["detail"][0]["msg"]
    page = windows.open(owner).page
    open_kb(page, kb_id)
    drop(page, empty)
    expect(line(page, "empty.txt").get_by_role("alert")).to_contain_text(f"Failed: {refused}")
    with page.expect_response(lambda answer: answer.request.method == "POST" and answer.url.endswith(url)) as again:
        line(page, "empty.txt").get_by_role("button", name="Retry").click()
    assert not again.value.ok
    expect(line(page, "empty.txt").get_by_role("alert")).to_contain_text(refused)
    page.get_by_role("button", name="Hide empty.txt").click()
    expect(tray(page)).to_be_hidden()


def test_a_viewer_is_told_that_nothing_can_be_dropped_here(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner, viewer = office.add_person(), office.add_person("viewer")
    kb_id = new_kb(owner)
    add_member(owner, kb_id, viewer, "viewer")
    file = tmp_path / "mine.txt"
    file.write_text("Mine.")
    page = windows.open(viewer).page
    open_kb(page, kb_id)
    expect(page.get_by_text("No documents yet")).to_be_visible()
    expect(page.get_by_role("button", name="Upload files")).to_be_hidden()
    drop(page, file, release=False)
    expect(page.get_by_text("Viewers of 'Contracts and invoices' cannot upload")).to_be_visible()
    drop(page, file)
    expect(page.get_by_role("heading", level=1)).to_have_text("Contracts and invoices")
    assert owner.api.get(f"/api/v1/knowledge-bases/{kb_id}/documents").json()["total"] == 0
