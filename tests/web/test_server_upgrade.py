"""The server is upgraded while a tab is open."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.web.demo_organization import DemoOrganization, new_kb
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_a_tab_of_the_page_before_loads_the_new_one_whole(office: DemoOrganization, windows: Windows) -> None:
    """Old and new scripts must never be mixed in one page."""
    owner = office.add_person()
    new_kb(owner), new_kb(owner, "Minutes")
    page = windows.open(owner).page
    page.route(re.compile(r"/account\.txt"), _of_another_build)
    page.goto("/")
    expect(page.get_by_role("heading", name="Knowledge bases")).to_be_visible()
    page.evaluate("window.isOldPage = true")
    page.get_by_role("button", name=re.compile(re.escape(owner.email))).click()
    page.get_by_role("menuitem", name="Account").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    assert page.evaluate("window.isOldPage") is None


def _of_another_build(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=re.sub(r'"b":"[^"]*"', '"b":"another"', answer.text()))


def test_a_part_that_cannot_be_fetched_says_so_and_comes_with_the_page_anew(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    new_kb(owner), new_kb(owner, "Minutes")
    window = windows.open(owner)
    page = window.page
    page.goto("/")
    expect(page.get_by_role("heading", name="Knowledge bases")).to_be_visible()
    page.get_by_role("button", name="Actions for Minutes").click()
    page.get_by_role("menuitem", name="Settings…").hover()
    page.keyboard.press("Escape")
    chunks = re.compile(r"/_next/static/chunks/")
    page.route(chunks, lambda route: route.fulfill(status=404))
    page.get_by_role("button", name="Actions for Minutes").click()
    page.get_by_role("menuitem", name="Settings…").click()
    failure = page.get_by_role("alert").filter(has_text="Part of this page could not be loaded")
    expect(failure).to_be_visible()
    page.unroute(chunks)
    failure.get_by_role("button", name="Try again").click()
    page.get_by_role("button", name="Actions for Minutes").click()
    page.get_by_role("menuitem", name="Settings…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    # React logs what the error boundary caught, as it should.
    window.complaints.clear()
