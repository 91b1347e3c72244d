"""Searching all documents and opening the page with the match."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.running_server import wait_until
from tests.web.demo_organization import DemoOrganization, SignedInPerson, new_kb
from tests.web.document_page import expect_page, is_in_view, pages, read, text
from tests.web.sample_pdfs import agreement_pdf, letter_pdf
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


@pytest.fixture
def owner(office: DemoOrganization) -> SignedInPerson:
    return office.add_person()


def field(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search all documents")


def passages(page: Page) -> Locator:
    return page.locator("[data-hit]")


def preview(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Preview")


def test_a_sentence_is_found_and_enter_opens_its_page_with_the_mark_in_view(
    owner: SignedInPerson, windows: Windows
) -> None:
    kb_id = new_kb(owner)
    read(owner, kb_id, "Agreement.pdf", agreement_pdf(12, with_notice=(9,)))
    window = windows.open(owner)
    page = window.page
    page.goto("/search")
    expect(page.get_by_text("Search all documents")).to_be_visible()
    page.keyboard.press("/")
    field(page).fill("notice period begins")
    expect(passages(page).first).to_contain_text("The notice period begins")
    expect(passages(page).first.locator("mark").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"/search\?q=notice\+period\+begins"))
    window.shoot("search")

    field(page).press("Enter")
    expect(page).to_have_url(re.compile(r"/document\?.*page=9"))
    expect_page(page, 9)
    marked = pages(page).locator("[data-page='9'] .on-paper[data-kind=mark][data-current]").first
    expect(marked).to_be_visible()
    wait_until(lambda: is_in_view(marked, pages(page)))
    expect(text(page).locator(".prose-part[data-passage]")).to_contain_text("Either party may terminate")

    page.go_back()
    expect(field(page)).to_have_value("notice period begins")
    expect(passages(page).first).to_be_visible()


def test_arrow_keys_move_over_passages_and_the_preview_follows_to_the_passage(
    owner: SignedInPerson, windows: Windows
) -> None:
    kb_id = new_kb(owner)
    read(owner, kb_id, "Agreement.pdf", agreement_pdf(4, with_notice=(1, 4)))
    read(owner, kb_id, "Handbook.md", b"# Handbook\n\nBefore each notice period ends the owner decides.\n")
    read(owner, kb_id, "Lease.pdf", letter_pdf("The notice period of the lease is six months."))
    page = windows.open(owner).page
    page.goto("/search?q=%22notice+period%22&mode=text")
    expect(passages(page)).to_have_count(3)
    expect(page.get_by_role("status").filter(has_text="3 passages in 3 documents")).to_be_visible()
    field(page).focus()
    seen = set()
    for number in range(3):
        page.keyboard.press("ArrowDown")
        chosen = page.locator(f"[data-hit='{number}']")
        expect(chosen).to_be_focused()
        expect(chosen).to_have_attribute("aria-current", "true")
        shown = preview(page).locator("[data-passage]")
        expect(shown.first).to_be_visible()
        wait_until(lambda: is_in_view(preview(page).locator("[data-passage]").first, preview(page)))
        seen.add(preview(page).locator("bdi").get_attribute("title"))
    assert seen == {"Agreement.pdf", "Handbook.md", "Lease.pdf"}
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    expect(field(page)).to_be_focused()


def test_nobody_finds_what_is_not_theirs_and_the_archive_is_not_found(
    office: DemoOrganization, owner: SignedInPerson, windows: Windows
) -> None:
    kb_id = new_kb(owner)
    document_id = read(owner, kb_id, "Secret.pdf", letter_pdf("The notice period is a secret."))
    stranger = windows.open(office.add_person("stranger")).page
    stranger.goto("/search?q=notice+period")
    expect(stranger.get_by_text("No results for 'notice period'")).to_be_visible()
    mine = windows.open(owner).page
    mine.goto("/search?q=notice+period")
    expect(passages(mine)).to_have_count(1)
    answer = owner.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/archive")
    assert answer.status_code == 200
    mine.reload()
    expect(mine.get_by_text("No results for 'notice period'")).to_be_visible()


def test_markup_in_a_document_is_text_wherever_it_is_shown(owner: SignedInPerson, windows: Windows) -> None:
    kb_id = new_kb(owner)
    evil = '<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script> in the notice period'
    name = "<img src=x onerror=alert(1)>.txt"
    read(owner, kb_id, name, evil.encode())
    page = windows.open(owner).page
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    page.goto("/search?q=notice")
    expect(passages(page).first).to_contain_text("<img src=x onerror=")
    expect(preview(page)).to_contain_text("<script>")
    passages(page).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x onerror")
    expect(text(page)).to_contain_text("<script>window.hacked = 1</script>")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("onerror")
    expect(page.get_by_role("option", name=name)).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


def test_on_a_phone_passages_fit_and_lead_to_the_page(owner: SignedInPerson, windows: Windows) -> None:
    kb_id = new_kb(owner)
    read(owner, kb_id, "Agreement with a rather long name for a small screen.pdf", agreement_pdf(3))
    window = windows.open(owner, width=360, height=740, touch=True)
    page = window.page
    page.goto("/search?q=notice+period+begins")
    expect(passages(page).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(preview(page)).to_have_count(0)
    window.shoot("search-narrow")
    passages(page).first.tap()
    expect(pages(page)).to_be_visible()
    expect(pages(page).locator("[data-kind=mark][data-current]").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    window.shoot("document-narrow")
    page.get_by_role("button", name="Text", exact=True).tap()
    expect(text(page)).to_contain_text("Either party may terminate")
    page.get_by_role("button", name="History").tap()
    expect(page.get_by_text("Uploaded", exact=True)).to_be_visible()
