"""Archived documents are restored, or the page says why they cannot be."""

import re

import pytest
from playwright.sync_api import expect

from tests.web.archived_documents import add_archived, choose, rename_document, row
from tests.web.demo_organization import DemoOrganization, new_kb, upload, wait_until_final
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

COLLISION = "Cannot restore: a document with this name already exists"


def test_an_archived_document_is_restored_and_put_back_by_undo(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    [lease] = add_archived(owner, kb_id, "Lease.txt").values()
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{lease}"
    window = windows.open(owner)
    page = window.page
    page.goto("/archive")
    expect(row(page, "Lease.txt").get_by_text("Contracts and invoices")).to_be_visible()
    window.shoot("archive-one")

    page.get_by_role("button", name="Restore Lease.txt").click()
    dialog = page.get_by_role("dialog", name="Restore 'Lease.txt' to active documents?")
    dialog.get_by_role("button", name="Cancel").click()
    assert owner.api.get(url).json()["status"] == "archived"

    page.get_by_role("button", name="Restore Lease.txt").click()
    dialog.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("No archived documents")).to_be_visible()
    assert owner.api.get(url).json()["status"] == "completed"

    page.get_by_role("status").filter(has_text="Restored 'Lease.txt'").get_by_role("button", name="Undo").click()
    expect(row(page, "Lease.txt")).to_be_visible()
    assert owner.api.get(url).json()["status"] == "archived"


def test_a_taken_name_is_reported_with_a_solution(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    add_archived(owner, kb_id, "Lease.txt")
    namesake = upload(owner, kb_id, "Another.txt")
    wait_until_final(owner, kb_id, [namesake])
    rename_document(office.muniment, namesake, "LEASE.TXT")
    window = windows.open(owner)
    page = window.page
    page.goto("/archive")
    choose(page, "Lease.txt", "Restore…")
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    alert = page.get_by_role("alert").filter(has_text=COLLISION)
    expect(alert).to_contain_text("Archive that document first, then restore this one.")
    expect(alert.get_by_role("link", name="View active document")).to_have_attribute(
        "href", re.compile(re.escape(namesake))
    )
    window.shoot("archive-restore-collision")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(row(page, "Lease.txt")).to_be_visible()


def test_the_address_holds_search_filter_sort_and_page(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    contracts, minutes = new_kb(owner), new_kb(owner, "Board minutes")
    add_archived(owner, contracts, *(f"Lease {number:02}.txt" for number in range(11)))
    add_archived(owner, minutes, "Minutes of May.txt", "Lease of the hall.txt")
    page = windows.open(owner).page
    page.goto("/archive")
    names = page.locator("td[data-cell=name]")
    expect(names).to_have_count(13)

    page.get_by_role("searchbox", name="Search the archive").fill("lease")
    expect(page.get_by_text("12 found")).to_be_visible()
    page.get_by_role("button", name="Name", exact=True).click()
    expect(names.first).to_have_text("Lease 00.txt")
    page.get_by_role("button", name=re.compile("^Rows")).click()
    page.get_by_role("menuitemradio", name="10", exact=True).click()
    page.get_by_role("button", name="Next page").click()
    expect(names).to_have_text(["Lease 10.txt", "Lease of the hall.txt"])
    expect(page).to_have_url(re.compile(r"\?q=lease&sort=name&page=2&limit=10$"))
    page.reload()
    expect(names).to_have_text(["Lease 10.txt", "Lease of the hall.txt"])

    page.get_by_role("button", name=re.compile("^Knowledge base")).click()
    page.get_by_role("menuitemradio", name="Board minutes").click()
    expect(names).to_have_text(["Lease of the hall.txt"])
    page.go_back()
    expect(names).to_have_text(["Lease 10.txt", "Lease of the hall.txt"])


def test_days_are_those_of_the_reader_and_no_match_names_the_filters(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    add_archived(owner, new_kb(owner), "Lease.txt")
    page = windows.open(owner).page
    page.goto("/archive?to=2020-01-01&q=lease")
    expect(page.get_by_text("No archived documents match these filters")).to_be_visible()
    expect(page.get_by_text("name contains 'lease' and archived in the selected period")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(row(page, "Lease.txt")).to_be_visible()
    page.get_by_role("button", name="Archived Any time").click()
    page.get_by_role("button", name="Today", exact=True).click()
    expect(page.get_by_text("1 found")).to_be_visible()
    expect(row(page, "Lease.txt")).to_be_visible()


def test_it_works_by_keyboard_alone(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    add_archived(owner, new_kb(owner), "Lease.txt", "Minutes.txt")
    page = windows.open(owner).page
    page.goto("/archive?sort=name")
    expect(row(page, "Lease.txt")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(row(page, "Minutes.txt").get_by_role("link")).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_role("toolbar", name="Selection")).to_contain_text("1 selected")
    page.keyboard.press("Escape")
    expect(page.get_by_role("toolbar", name="Selection")).to_have_count(0)
    page.keyboard.press(".")
    expect(page.get_by_role("menuitem", name="Purge…")).to_be_visible()
    page.keyboard.press("Escape")
    row(page, "Minutes.txt").get_by_role("link").focus()
    page.keyboard.press("r")
    expect(page.get_by_role("dialog").get_by_role("button", name="Restore")).to_be_focused()
    page.keyboard.press("Enter")
    expect(row(page, "Lease.txt")).to_be_visible()  # the dialog is closed
    expect(row(page, "Minutes.txt")).to_have_count(0)
