"""The command palette, by keyboard alone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.demo_organization import DemoOrganization, add_member, new_kb, upload, wait_until_final
from tests.web.document_page import find_field, open_document, read
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def open_palette(page: Page) -> Locator:
    expect(page.get_by_role("main").get_by_role("heading", level=1)).to_be_attached()
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Command palette")
    expect(box).to_be_focused()
    return box


def chosen(page: Page) -> Locator:
    return page.locator("[role=option][aria-selected=true]")


def test_a_document_of_any_knowledge_base_opens_by_its_name(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    first, second = new_kb(owner), new_kb(owner, "Buildings and energy")
    wait_until_final(owner, first, [upload(owner, first, "Invoice.txt")])
    wait_until_final(owner, second, [upload(owner, second, "Architects contract.txt")])
    window = windows.open(owner)
    page = window.page
    page.goto("/search")
    open_palette(page)
    page.keyboard.type("contract arch")
    found = page.get_by_role("option", name=re.compile("Architects contract.txt"))
    expect(found).to_contain_text("Buildings and energy")
    assert found.locator(".underline").all_inner_texts() == ["Arch", "contract"]
    window.shoot("palette")
    while "Architects" not in chosen(page).inner_text():
        page.keyboard.press("ArrowDown")
    box = page.get_by_role("combobox")
    assert box.get_attribute("aria-activedescendant") == chosen(page).get_attribute("id")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Architects contract.txt")
    expect(page.get_by_role("combobox")).to_have_count(0)


def test_knowledge_bases_passages_and_acts_are_a_few_letters_away(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner, "Quality handbook")
    page = windows.open(owner).page
    page.goto("/search")
    open_palette(page)
    page.keyboard.type("quality")
    expect(chosen(page)).to_contain_text("Quality handbook")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/kb\?id={kb_id}"))

    open_palette(page)
    page.keyboard.type("notice period")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=notice%20period"))

    open_palette(page)
    page.keyboard.type("go arch")
    expect(chosen(page)).to_contain_text("Go to Archive")
    expect(chosen(page).locator("kbd")).to_have_text("G A")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/archive$"))

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Open command palette")


def test_escape_gives_the_focus_back_and_an_act_may_take_it_elsewhere(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = read(owner, kb_id, "Note.txt", b"The tenant pays on the third of the month.")
    page = windows.open(owner).page
    open_document(page, kb_id, document_id)
    tab = page.get_by_role("tab", name="History")
    tab.focus()
    open_palette(page)
    page.keyboard.press("Escape")
    expect(tab).to_be_focused()
    open_palette(page)
    page.keyboard.type("find in this")
    page.keyboard.press("Enter")
    expect(find_field(page)).to_be_focused()


def test_what_a_right_does_not_allow_is_not_offered(office: DemoOrganization, windows: Windows) -> None:
    owner, viewer = office.add_person(), office.add_person("viewer")
    kb_id = new_kb(owner)
    add_member(owner, kb_id, viewer, "viewer")
    page = windows.open(viewer).page
    page.goto("/search")
    open_palette(page)
    page.keyboard.type("go to")
    expect(page.get_by_role("option", name=re.compile("Go to Account"))).to_be_visible()
    for place in ("Archive", "Audit log", "Users", "System"):
        expect(page.get_by_role("option", name=re.compile(place))).to_have_count(0)
