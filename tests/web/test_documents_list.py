import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.demo_organization import DemoOrganization, SignedInPerson, new_kb, upload, wait_until_final
from tests.web.documents_page import PATIENCE_MS, names, open_kb, row
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def fill(owner: SignedInPerson, kb_id: str, count: int) -> None:
    for number in range(count):
        content = b"word " * (number + 1)
        kind = "invoice" if number % 3 == 0 else "other"
        url = f"/api/v1/knowledge-bases/{kb_id}/documents"
        files = {"file": (f"letter {number:02}.txt", content)}
        assert owner.api.post(url, data={"document_type": kind}, files=files).status_code == 201


def shown(page: Page) -> None:
    expect(page.get_by_role("table")).to_be_visible()


def test_order_filter_page_and_size_stand_in_the_address_and_survive_a_reload(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    fill(owner, kb_id, 14)
    page = windows.open(owner).page
    open_kb(page, kb_id)
    shown(page)
    page.get_by_label("Rows per page").select_option("10")
    expect(page.locator("tbody tr")).to_have_count(10)
    page.get_by_role("button", name="Name").click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("tbody tr").first).to_contain_text("letter 00.txt")
    page.get_by_role("button", name="Size").click()
    expect(page.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "descending")
    expect(page.locator("tbody tr").first).to_contain_text("letter 13.txt")
    page.get_by_role("button", name="Next page").click()
    expect(page.locator("tbody tr")).to_have_count(4)
    assert names(page) == ["letter 03.txt", "letter 02.txt", "letter 01.txt", "letter 00.txt"]
    page.reload()
    shown(page)
    assert names(page) == ["letter 03.txt", "letter 02.txt", "letter 01.txt", "letter 00.txt"]
    expect(page.get_by_text("11–14 of 14")).to_be_visible()

    page.get_by_role("searchbox", name="Filter by name").fill("letter 1")
    expect(page.get_by_text("1–4 of 4")).to_be_visible()
    expect(page).to_have_url(re.compile(r"q=letter(\+|%20)1"))
    page.get_by_role("button", name="Type Any").click()
    page.get_by_role("menuitemradio", name="Invoice").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    assert names(page) == ["letter 12.txt"]
    page.reload()
    expect(page.get_by_role("searchbox", name="Filter by name")).to_have_value("letter 1")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.go_back()
    expect(page.locator("tbody tr")).to_have_count(4)


def test_tabs_count_and_filter_by_status_and_no_match_names_the_filters(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    good, bad = upload(owner, kb_id, "good.txt"), upload(owner, kb_id, "bad.pdf", b"%PDF-1.7 nothing")
    wait_until_final(owner, kb_id, [good, bad])
    window = windows.open(owner)
    page = window.page
    open_kb(page, kb_id)
    tabs = page.get_by_role("group", name="Status")
    expect(tabs.get_by_role("button", name="All 2")).to_have_attribute("aria-pressed", "true")
    tabs.get_by_role("button", name="Failed 1").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(row(page, "bad.pdf")).to_contain_text("The PDF is damaged or incomplete")
    page.get_by_role("searchbox", name="Filter by name").fill("harbour")
    expect(page.get_by_text("No documents match these filters")).to_be_visible()
    expect(page.get_by_text("Failed and name contains 'harbour'")).to_be_visible()
    window.shoot("documents-no-match")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator("tbody tr")).to_have_count(2)


def test_an_address_beyond_the_end_shows_the_last_page(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    fill(owner, kb_id, 12)
    page = windows.open(owner).page
    open_kb(page, kb_id, "&limit=10&page=9")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile("page=2"))


@pytest.mark.parametrize("kb_id", ["00000000-0000-4000-8000-000000000000", "cut-off", ""])
def test_a_knowledge_base_that_is_not_there_says_so(kb_id: str, office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    page = windows.open(owner).page
    page.goto(f"/kb?id={kb_id}")
    expect(page.get_by_text("Knowledge base not found")).to_be_visible()
    expect(page.get_by_role("link", name="Go to knowledge bases")).to_be_visible()


def test_the_list_is_handled_by_keys_alone(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    ids = [upload(owner, kb_id, name) for name in ("first.txt", "second.txt", "third.txt")]
    wait_until_final(owner, kb_id, ids)
    page = windows.open(owner).page
    open_kb(page, kb_id, "&sort=name")
    shown(page)
    page.keyboard.press("j")
    expect(row(page, "first.txt").get_by_role("link")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(row(page, "second.txt")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.get_by_role("toolbar")).to_contain_text("2 selected")
    page.keyboard.press("Escape")
    expect(page.get_by_role("toolbar")).to_be_hidden()
    page.keyboard.press(".")
    expect(page.get_by_role("menuitem", name="Open")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_be_hidden()
    page.keyboard.press("e")
    expect(page.get_by_role("dialog")).to_contain_text("Status of 'third.txt'")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("k")
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Archive 'second.txt'? It will be removed from search results.")
    expect(dialog.get_by_role("button", name="Archive")).to_be_focused()
    page.keyboard.press("Enter")
    expect(row(page, "second.txt")).to_contain_text("Archived")
    page.keyboard.press("z")
    expect(row(page, "second.txt")).to_contain_text("Completed", timeout=PATIENCE_MS)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter by name")).to_be_focused()
    page.keyboard.type("axe")
    expect(page.get_by_text("No documents match these filters")).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_new_documents_wait_behind_a_button_while_somebody_reads_further_down(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    fill(owner, kb_id, 30)
    page = windows.open(owner, height=500).page
    open_kb(page, kb_id)
    shown(page)
    page.locator("#main").evaluate("sheet => sheet.scrollTo(0, 300)")
    before = names(page)
    upload(owner, kb_id, "brand new.txt")
    expect(page.get_by_role("button", name="1 new")).to_be_visible(timeout=PATIENCE_MS)
    assert names(page) == before
    page.get_by_role("button", name="1 new").click()
    expect(page.locator("tbody tr").first).to_contain_text("brand new.txt")
    assert page.locator("#main").evaluate("sheet => sheet.scrollTop") == 0
