"""Filters, sorting and saved searches, which the address holds."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.demo_organization import DemoOrganization, SignedInPerson, add_member, new_kb
from tests.web.document_page import read
from tests.web.sample_pdfs import letter_pdf
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

SEARCH = "/search?q=notice+period&mode=text"


@pytest.fixture
def owner(office: DemoOrganization) -> SignedInPerson:
    return office.add_person()


@pytest.fixture
def colleague(office: DemoOrganization, owner: SignedInPerson) -> SignedInPerson:
    """Uploaded one of two documents with the words of the search."""
    colleague = office.add_person("colleague")
    first, second = new_kb(owner), new_kb(owner, "Buildings")
    add_member(owner, second, colleague, "editor")
    read(owner, first, "One.pdf", letter_pdf("The notice period is one year."))
    read(colleague, second, "Two.md", b"# Lease\n\nThe notice period is two years.\n")
    return colleague


def passages(page: Page) -> Locator:
    return page.locator("[data-hit]")


def choose(page: Page, button: str | re.Pattern[str], item: str, *, kind: str = "checkbox") -> None:
    page.get_by_role("button", name=button).click()
    page.get_by_role("menu").get_by_text(item, exact=True).click()
    if kind == "checkbox":
        page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_be_hidden()


def clear_filters(page: Page) -> None:
    page.get_by_role("group", name="Filters").get_by_role("button", name="Clear filters").click()
    expect(passages(page)).to_have_count(2)


def test_filters_and_sorting_stand_in_the_address_for_back_reload_and_links(
    owner: SignedInPerson, colleague: SignedInPerson, windows: Windows
) -> None:
    page = windows.open(owner).page
    page.goto(SEARCH)
    expect(passages(page)).to_have_count(2)
    expect(passages(page).first).to_contain_text("Keywords")
    choose(page, "In All knowledge bases", "Buildings")
    expect(passages(page)).to_have_count(1)
    expect(passages(page)).to_contain_text("two years")
    page.go_back()
    expect(passages(page)).to_have_count(2)
    page.go_forward()
    expect(page.get_by_role("button", name="In Buildings")).to_be_visible()
    expect(passages(page)).to_have_count(1)
    clear_filters(page)

    choose(page, "By Anyone", colleague.email)
    expect(passages(page)).to_have_count(1)
    expect(passages(page)).to_contain_text("two years")
    # By keys alone: PDF is the first format.
    page.get_by_role("button", name="Format Any").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitemcheckbox", name="PDF")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Format PDF")).to_be_focused()
    expect(page.get_by_text("Filtered by person and file format.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("No results for 'notice period'")).to_be_visible()
    page.get_by_role("button", name="Clear filters").last.click()
    expect(passages(page)).to_have_count(2)

    page.get_by_role("button", name="Added Any time").click()
    page.get_by_label("To", exact=True).fill("2020-02-01")
    expect(page.get_by_text("Filtered by date added.")).to_be_visible()
    expect(page).to_have_url(re.compile("to=2020-02-01"))
    page.get_by_role("button", name="Clear Added").click()
    expect(passages(page)).to_have_count(2)
    choose(page, "Sort Relevance", "Date added", kind="radio")
    expect(page).to_have_url(re.compile("sort=date"))
    expect(passages(page).first).to_contain_text("two years")
    link = page.url
    shared = windows.open(colleague).page
    shared.goto(link)
    expect(shared.get_by_role("button", name="Sort Date added")).to_be_visible()
    expect(passages(shared)).to_have_count(1)


def test_a_saved_search_is_opened_changed_renamed_deleted_and_brought_back(
    owner: SignedInPerson, colleague: SignedInPerson, windows: Windows
) -> None:
    page = windows.open(owner).page
    page.goto(f"{SEARCH}&format=pdf")
    expect(passages(page)).to_have_count(1)
    choose(page, "Saved searches", "Save this search…", kind="dialog")
    name = page.get_by_role("dialog").get_by_label("Name")
    expect(name).to_have_value("notice period")
    name.fill("Deadlines in PDFs")
    name.press("Enter")
    expect(page.get_by_role("button", name="Saved search Deadlines in PDFs", exact=True)).to_be_visible()

    choose(page, "Format PDF", "Text")
    expect(passages(page)).to_have_count(2)
    choose(page, "Saved search Deadlines in PDFs, edited", "Reset", kind="item")
    expect(passages(page)).to_have_count(1)
    choose(page, re.compile("^Saved search Deadlines"), "Rename…", kind="dialog")
    name.fill("Deadlines")
    name.press("Enter")
    expect(page.get_by_role("button", name="Saved search Deadlines", exact=True)).to_be_visible()

    page.goto("/search")
    choose(page, "Saved searches", "Deadlines", kind="radio")
    expect(page.get_by_role("searchbox", name="Search all documents")).to_have_value("notice period")
    expect(page.get_by_role("button", name="Format PDF")).to_be_visible()
    expect(passages(page)).to_have_count(1)
    choose(page, "Saved search Deadlines", "Delete", kind="item")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Restored 'Deadlines'")).to_be_visible()
    [saved] = owner.api.get("/api/v1/saved-searches").json()["items"]
    assert (saved["name"], saved["parameters"]) == (
        "Deadlines",
        {"q": "notice period", "mode": "text", "format": ["pdf"]},
    )
