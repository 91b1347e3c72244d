import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.running_server import RunningServer
from tests.web.demo_organization import DemoOrganization, new_client
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_a_token_is_shown_once_works_and_is_revoked(
    office: DemoOrganization, windows: Windows, muniment: RunningServer
) -> None:
    window = windows.open(office.add_person())
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.page
    page.goto("/account")
    page.get_by_role("button", name="New token…").click()
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_text("Enter a name")).to_be_visible()
    page.get_by_label("Name").fill("invoicing backend")
    page.get_by_label("Expires in").select_option("30 days")
    page.get_by_role("button", name="Create token").click()
    secret = page.get_by_label("API token", exact=True).input_value()
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    page.get_by_role("button", name="Done").click()
    assert secret not in page.content()
    headers = {"Authorization": f"Bearer {secret}"}
    assert httpx.get(f"{muniment.url}/api/v1/auth/me", headers=headers, trust_env=False).status_code == 200
    page.get_by_role("button", name="Revoke invoicing backend").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_text("Revoked 'invoicing backend'")).to_be_visible()
    expect(page.get_by_text("No API tokens yet")).to_be_visible()
    assert httpx.get(f"{muniment.url}/api/v1/auth/me", headers=headers, trust_env=False).status_code == 401


def test_the_password_changes_with_the_current_one_and_other_sign_ins_end(
    office: DemoOrganization, windows: Windows, muniment: RunningServer
) -> None:
    person = office.add_person()
    page, elsewhere = windows.open(person).page, new_client(muniment, person.email, person.password)
    page.goto("/account")
    page.get_by_label("Current password").fill("wrong horse battery")
    page.get_by_label("New password").fill("quite another horse")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("The current password is incorrect.")).to_be_visible()
    page.get_by_label("Current password").fill(person.password)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Password changed")).to_be_visible()
    assert elsewhere.get("/api/v1/auth/me").status_code == 401
    elsewhere.close()
    new_client(muniment, person.email, "quite another horse").close()
    page.reload()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()


def test_the_theme_follows_the_system_until_somebody_chooses_and_never_flashes(
    office: DemoOrganization, windows: Windows
) -> None:
    page = windows.open(office.add_person(), theme="dark").page
    page.goto("/account")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-theme", "light")
    page.get_by_role("group", name="Theme").get_by_role("button", name="Dark").click()
    expect(root).to_have_attribute("data-theme", "dark")
    # Before any script of the page has run.
    page.route(re.compile(r"/_next/static/chunks/"), lambda route: route.abort())
    page.reload(wait_until="commit")
    expect(root).to_have_attribute("data-theme", "dark")


def test_letters_do_something_until_they_are_switched_off(office: DemoOrganization, windows: Windows) -> None:
    page = windows.open(office.add_person()).page
    page.goto("/account")
    expect(page.get_by_role("heading", name="API tokens")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Keyboard shortcuts").uncheck()
    page.keyboard.press("?")
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page).to_have_url(re.compile(r"/account$"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label("Keyboard shortcuts").check()
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page).to_have_url(re.compile(r"/search$"))
