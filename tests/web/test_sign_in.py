import re
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.support.folders import shared_folder
from tests.support.running_server import EMAIL, RunningServer
from tests.web.demo_organization import DemoOrganization, create_demo_organization
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_a_password_opens_the_page_that_was_asked_for(office: DemoOrganization, windows: Windows) -> None:
    person = office.add_person()
    page = windows.open().page
    page.goto("/account")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password", exact=True).fill("wrong horse")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("main").get_by_role("alert")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(person.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/account$"))


def test_somebody_with_the_same_password_in_two_organizations_chooses_one_by_keyboard(
    office: DemoOrganization, operator: httpx.Client, muniment: RunningServer, windows: Windows
) -> None:
    other = create_demo_organization(muniment, operator)
    person = office.add_person()
    other.add_account(person.email, person.password)
    page = windows.open().page
    page.goto("/account")
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password", exact=True).fill(person.password)
    page.keyboard.press("Enter")
    choice = page.get_by_label("Organization")
    expect(choice).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("belong to several organizations")
    assert sorted(choice.get_by_role("option").all_inner_texts()) == sorted([office.name, other.name])
    page.keyboard.type(other.name)
    expect(choice.locator("option:checked")).to_have_text(other.name)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    expect(page.get_by_role("main").get_by_text(other.name)).to_be_visible()


def test_signing_out_leaves_nothing_behind_the_back_button(office: DemoOrganization, windows: Windows) -> None:
    person = office.add_person()
    page = windows.open(person).page
    page.goto("/account")
    page.get_by_role("button", name=re.compile(re.escape(person.email))).click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_sign_in_leads_to_no_foreign_page(office: DemoOrganization, windows: Windows) -> None:
    person = office.add_person()
    page = windows.open(person).page
    for foreign in ("https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)"):
        page.goto(f"/sign-in?next={foreign}")
        expect(page.get_by_role("main")).to_be_visible()
        expect(page).to_have_url(re.compile(r"^http://127\.0\.0\.1:\d+/(\?.*)?$"))


def test_the_one_time_link_opens_once_and_a_password_is_set(browser: Browser) -> None:
    with shared_folder() as folder, RunningServer(Path(folder), MUNIMENT_ADMIN_PASSWORD="") as muniment:
        link = re.search(r"http\S+/sign-in#token=\S+", muniment.start().said)
        assert link, muniment.said
        with closing(Windows(browser, muniment.url)) as windows:
            page = windows.open().page
            page.goto(link[0])
            expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
            expect(page.get_by_text(EMAIL)).to_be_visible()
            assert "token" not in page.url
            page.get_by_label("New password").fill("short")
            page.get_by_role("button", name="Set password").click()
            expect(page.get_by_text("Use at least 8 characters.")).to_be_visible()
            page.get_by_label("New password").fill("correct horse battery")
            page.get_by_role("button", name="Set password").click()
            expect(page.get_by_role("navigation", name="Administration")).to_be_visible()
            again = windows.open().page
            again.goto(link[0])
            expect(again.get_by_role("main").get_by_role("alert")).to_be_visible()
            expect(again.get_by_role("heading", name="Sign in")).to_be_visible()
