"""Notes on pages, paragraphs and figures: editors write them, all members read them."""

import pytest
from playwright.sync_api import expect

from tests.web.demo_organization import DemoOrganization, add_member, new_kb
from tests.web.document_page import open_document, pages, read, text
from tests.web.sample_pdfs import agreement_pdf
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

NOTE = "Ask the lawyer <b>first</b>"


def test_an_editor_writes_what_a_viewer_reads_and_cannot_change(office: DemoOrganization, windows: Windows) -> None:
    owner, editor, viewer = office.add_person(), office.add_person("editor"), office.add_person("viewer")
    kb_id = new_kb(owner)
    add_member(owner, kb_id, editor, "editor")
    add_member(owner, kb_id, viewer, "viewer")
    document_id = read(owner, kb_id, "Agreement.pdf", agreement_pdf(3))

    window = windows.open(editor)
    page = window.page
    open_document(page, kb_id, document_id, page=2)
    part = text(page).locator(".prose-part").filter(has_text="Either party may terminate")
    part.get_by_role("button").click()
    page.get_by_label("Note", exact=True).fill(NOTE)
    page.get_by_role("button", name="Save note").click()
    expect(text(page).locator("[data-note]")).to_contain_text(NOTE)
    expect(pages(page).locator("[data-page='2'] .pin")).to_have_text("1")
    page.get_by_role("button", name="Add a note to this page").click()
    page.get_by_label("Note", exact=True).fill("Scanned twice")
    page.get_by_label("Note", exact=True).press("Control+Enter")
    expect(pages(page).locator("[data-page='2'] .pin")).to_have_count(2)
    page.get_by_role("tab", name="Notes 2").click()
    window.shoot("document-notes")

    page = windows.open(viewer).page
    open_document(page, kb_id, document_id, page=1, tab="notes")
    page.get_by_role("button", name="Page 2, paragraph", exact=False).click()
    expect(text(page).get_by_text(NOTE)).to_be_visible()
    expect(text(page).get_by_text(editor.email).first).to_be_visible()
    for name in ("Edit", "Delete", "Add a note to this page"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(text(page).locator(".prose-part button")).to_have_count(0)


def test_a_removed_note_comes_back_by_undo_and_what_a_program_wrote_stays(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = read(owner, kb_id, "Agreement.pdf", agreement_pdf(1, with_notice=()))
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/pages/1"
    assert owner.api.patch(url, json={"annotations": {"note": "Keep", "risk": 7}}).status_code == 200

    page = windows.open(owner).page
    open_document(page, kb_id, document_id)
    text(page).get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Note deleted")).to_be_visible()
    expect(text(page).get_by_text("Keep")).to_have_count(0)
    assert owner.api.get(url).json()["annotations"] == {"risk": 7}
    page.get_by_role("button", name="Undo").click()
    expect(text(page).get_by_text("Keep")).to_be_visible()
    written = owner.api.get(url).json()["annotations"]
    assert (written["note"], written["risk"], written["by"]) == ("Keep", 7, owner.email)


def test_a_note_whose_place_is_gone_is_kept_and_says_so(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = read(owner, kb_id, "Agreement.pdf", agreement_pdf(2))
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    answer = owner.api.patch(f"{url}/pages/2/paragraphs/2", json={"annotations": {"note": "About the notice"}})
    assert answer.status_code == 200, answer.text
    replaced = owner.api.post(f"{url}/replace", files={"file": ("Agreement.pdf", agreement_pdf(1, with_notice=()))})
    assert replaced.status_code == 200, replaced.text

    page = windows.open(owner).page
    open_document(page, kb_id, document_id, tab="notes")
    expect(page.get_by_text("Location no longer exists")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("complementary", name="Document details").get_by_text("About the notice")).to_be_visible()
