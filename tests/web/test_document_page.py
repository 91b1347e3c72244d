"""Viewing a document: pages, text, and highlights in both."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.running_server import wait_until
from tests.web.demo_organization import DemoOrganization, SignedInPerson, new_kb
from tests.web.document_page import (
    address,
    expect_page,
    find_field,
    is_in_view,
    open_document,
    page_field,
    pages,
    read,
    text,
)
from tests.web.sample_pdfs import CAPTION, agreement_pdf
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

NAME = "Framework agreement.pdf"


@pytest.fixture
def owner(office: DemoOrganization) -> SignedInPerson:
    return office.add_person()


@pytest.fixture
def kb_id(owner: SignedInPerson) -> str:
    return new_kb(owner)


@pytest.fixture
def document_id(owner: SignedInPerson, kb_id: str) -> str:
    return read(owner, kb_id, NAME, agreement_pdf())


def current_mark(page: Page) -> str:
    return text(page).locator("mark[data-current]").inner_text()


def test_search_inside_goes_from_match_to_match_on_both_sides(
    owner: SignedInPerson, kb_id: str, document_id: str, windows: Windows
) -> None:
    window = windows.open(owner)
    page = window.page
    open_document(page, kb_id, document_id)
    page.keyboard.press("/")
    find_field(page).fill('"notice period"')
    expect(page.get_by_text("1 of 2", exact=True)).to_be_visible()
    expect_page(page, 2)
    assert current_mark(page) == "notice period"
    on_paper = pages(page).locator("[data-page='2'] .on-paper[data-kind=mark][data-current]")
    expect(on_paper).to_be_visible()
    wait_until(lambda: is_in_view(on_paper, pages(page)))
    window.shoot("document-find")

    find_field(page).press("Enter")
    expect_page(page, 5)
    expect(page.get_by_text("2 of 2", exact=True)).to_be_visible()
    find_field(page).blur()
    page.keyboard.press("n")
    expect_page(page, 2)
    page.keyboard.press("Shift+N")
    expect_page(page, 5)
    wait_until(lambda: is_in_view(pages(page).locator("[data-page='5'] [data-current]"), pages(page)))
    expect(page).to_have_url(re.compile(r"find=%22notice\+period%22"))

    find_field(page).fill("unicorn")
    expect(page.get_by_text("No matches")).to_be_visible()
    expect(page.locator("mark")).to_have_count(0)


def test_pointing_at_a_paragraph_marks_it_on_both_sides(
    owner: SignedInPerson, kb_id: str, document_id: str, windows: Windows
) -> None:
    page = windows.open(owner).page
    open_document(page, kb_id, document_id, page=2)
    paper = pages(page).locator("[data-page='2']")
    expect(paper.locator("[data-kind=part]").first).to_be_attached()

    text(page).get_by_text("Either party may terminate").hover()
    marked = paper.locator(".on-paper[data-on=hover]")
    expect(marked).to_have_count(1)
    box, whole = marked.bounding_box(), paper.bounding_box()
    assert box
    assert whole
    # The paragraph starts 184 points below the top of an A4 page; its box starts at the top of its letters.
    assert abs((box["y"] - whole["y"]) / whole["height"] - 175 / 842) < 0.02

    marked.hover()
    expect(text(page).locator(".prose-part[data-on=hover]")).to_contain_text("Either party may terminate")
    page.get_by_role("heading", level=1).hover()
    expect(page.locator("[data-on=hover]")).to_have_count(0)


def test_a_diagram_has_its_frame_and_its_caption(
    owner: SignedInPerson, kb_id: str, document_id: str, windows: Windows
) -> None:
    page = windows.open(owner).page
    open_document(page, kb_id, document_id, page=2)
    expect(pages(page).locator("[data-page='2'] [data-kind=figure]")).to_be_attached()
    figure = text(page).locator("[data-kind=figure]")
    expect(figure).to_contain_text(CAPTION)
    page.keyboard.press("t")
    picture = figure.get_by_role("img", name=CAPTION)
    expect(picture).to_be_visible()
    wait_until(lambda: bool(picture.evaluate("image => image.naturalWidth > 0")))


def test_keys_turn_pages_change_the_size_and_show_text_or_history(
    owner: SignedInPerson, kb_id: str, document_id: str, windows: Windows
) -> None:
    page = windows.open(owner).page
    open_document(page, kb_id, document_id, tab="explain")
    expect_page(page, 1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_page(page, 3)
    page.keyboard.press("ArrowLeft")
    expect_page(page, 2)
    paper = pages(page).locator("[data-page='2']")
    wait_until(lambda: bool(paper.bounding_box()))
    before = paper.bounding_box()
    page.keyboard.press("+")
    wait_until(lambda: _width(paper.bounding_box()) > _width(before) * 1.2)
    page.keyboard.press("0")
    wait_until(lambda: abs(_width(paper.bounding_box()) - _width(before)) < 2)
    page.keyboard.press("t")
    expect(pages(page)).to_have_count(0)
    page.keyboard.press("t")
    expect(pages(page)).to_be_visible()
    page.keyboard.press("h")
    expect(page.get_by_role("tab", name="History")).to_have_attribute("aria-selected", "true")


def _width(box: object) -> float:
    assert isinstance(box, dict)
    return float(box["width"])


def test_a_long_document_draws_the_pages_that_are_near_and_no_others(
    owner: SignedInPerson, kb_id: str, windows: Windows
) -> None:
    document_id = read(owner, kb_id, "Register.pdf", agreement_pdf(120))
    page = windows.open(owner).page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/image" in request.url else None)
    open_document(page, kb_id, document_id, page=90)
    expect_page(page, 90)
    expect(pages(page).get_by_role("img", name="Page 90")).to_be_visible()
    expect(pages(page).locator("[data-page]")).to_have_count(120)
    pages(page).hover()
    page.mouse.wheel(0, 1500)
    expect(page_field(page)).not_to_have_value("90")
    assert page.locator("img").count() <= 6
    assert len(set(asked)) <= 12
    expect(page).to_have_url(re.compile(r"page=9[1-4]"))


def test_a_text_without_pages_is_shown_as_text(owner: SignedInPerson, kb_id: str, windows: Windows) -> None:
    handbook = (
        b"# Suppliers\n\nThe owner sets a reminder.\n\n| Supplier | Notice |\n|---|---|\n| Nordwind | one year |\n"
    )
    document_id = read(owner, kb_id, "Handbook.md", handbook)
    page = windows.open(owner).page
    open_document(page, kb_id, document_id, find="Nordwind")
    expect(text(page).get_by_role("heading", name="Suppliers")).to_be_visible()
    expect(text(page).get_by_role("cell", name="Nordwind").locator("mark")).to_be_visible()
    expect(pages(page)).to_have_count(0)
    expect(page.get_by_role("group", name="View")).to_have_count(0)


def test_somebody_elses_document_is_not_there(
    office: DemoOrganization, kb_id: str, document_id: str, windows: Windows
) -> None:
    page = windows.open(office.add_person("stranger")).page
    for wanted in (address(kb_id, document_id), f"/document?id={document_id}", "/document", "/document?kb=a&id=b"):
        page.goto(wanted)
        expect(page.get_by_role("heading", name="Document not found")).to_be_attached()
        expect(page.get_by_text(NAME)).to_have_count(0)


def test_an_address_without_its_knowledge_base_finds_it(
    owner: SignedInPerson, kb_id: str, document_id: str, windows: Windows
) -> None:
    page = windows.open(owner).page
    page.goto(f"/document?id={document_id}&page=3")
    expect_page(page, 3)


def test_an_archived_document_can_be_looked_at(
    owner: SignedInPerson, kb_id: str, document_id: str, windows: Windows
) -> None:
    answer = owner.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/archive")
    assert answer.status_code == 200
    page = windows.open(owner).page
    open_document(page, kb_id, document_id)
    expect(page.get_by_text("This document is archived and does not appear in search.")).to_be_visible()
    expect(text(page).get_by_text("This agreement enters into force")).to_be_visible()
    expect(page.get_by_role("link", name="Go to archive")).to_be_visible()
    expect(find_field(page)).to_have_count(0)
