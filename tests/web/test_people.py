"""Users and organizations, managed by admins and operators."""

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.web.archived_documents import choose, row
from tests.web.demo_organization import DemoOrganization
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def add(page: Page, email: str, password: str) -> None:
    page.get_by_role("button", name="Add user").click()
    dialog = page.get_by_role("dialog", name="Add user")
    dialog.get_by_label("Email").fill(email)
    dialog.get_by_label("Initial password").fill(password)
    dialog.get_by_role("button", name="Add user").click()


def sign_in(office: DemoOrganization, email: str, password: str) -> int:
    credentials = {"email": email, "password": password}
    return httpx.post(f"{office.muniment.url}/api/v1/auth/login", json=credentials, trust_env=False).status_code


def test_somebody_is_added_promoted_given_a_password_and_deactivated(
    office: DemoOrganization, windows: Windows
) -> None:
    admin = office.add_person("admin", is_admin=True)
    email = f"new.{office.organization_id[-8:]}@example.org"
    window = windows.open(admin)
    page = window.page
    page.goto("/people")
    add(page, email, "short")
    expect(page.get_by_text("Use at least 8 characters.")).to_be_visible()
    page.get_by_label("Initial password").fill("correct horse battery")
    page.get_by_role("dialog").get_by_role("button", name="Add user").click()
    expect(row(page, email)).to_contain_text("User")
    assert sign_in(office, email, "correct horse battery") == 200

    choose(page, email, "Make admin…")
    page.get_by_role("dialog", name=f"Make '{email}' an admin?").get_by_role("button", name="Make admin").click()
    expect(row(page, email)).to_contain_text("Admin")

    choose(page, email, "Reset password…")
    page.get_by_role("textbox", name="New password").fill("another horse battery")
    page.get_by_role("dialog").get_by_role("button", name="Reset password").click()
    expect(page.get_by_role("status").filter(has_text=f"Reset the password of '{email}'")).to_be_visible()
    assert sign_in(office, email, "correct horse battery") == 401
    assert sign_in(office, email, "another horse battery") == 200

    choose(page, email, "Deactivate…")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(row(page, email)).to_contain_text("Active")
    choose(page, email, "Deactivate…")
    page.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
    expect(row(page, email)).to_contain_text("Deactivated")
    window.shoot("people")
    assert sign_in(office, email, "another horse battery") == 401
    choose(page, email, "Activate")
    expect(row(page, email)).to_contain_text("Active")
    assert sign_in(office, email, "another horse battery") == 200


def test_an_address_that_is_taken_is_refused_in_the_servers_words(office: DemoOrganization, windows: Windows) -> None:
    admin = office.add_person("admin", is_admin=True)
    page = windows.open(admin).page
    page.goto("/people")
    add(page, admin.email.upper(), "correct horse battery")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator("tbody tr")).to_have_count(1)


def test_nobody_changes_their_own_rights_and_an_admin_no_operators(office: DemoOrganization, windows: Windows) -> None:
    admin, operator = office.add_person("admin", is_admin=True), office.add_person("operator", is_operator=True)
    page = windows.open(admin).page
    page.goto("/people")
    for email in (admin.email, operator.email):
        page.get_by_role("button", name=f"Actions for {email}").click()
        expect(page.get_by_role("menuitem")).to_have_text(["View in audit log"])
        page.keyboard.press("Escape")


def test_an_operator_makes_and_renames_organizations_and_finds_their_people(
    office: DemoOrganization, windows: Windows
) -> None:
    operator = office.add_person("operator", is_operator=True)
    window = windows.open(operator)
    page = window.page
    page.goto("/people?tab=organizations")
    # Sorts before the organizations of all other tests, so that it is on the first page however many there are.
    name = f"Aabenraa {office.organization_id[-8:]}"
    page.get_by_role("button", name="New organization").click()
    page.get_by_role("dialog").get_by_label("Name").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_text(f"Created '{name}'")).to_be_visible()
    organizations = operator.api.get("/api/v1/organizations").json()["items"]
    [made] = [one for one in organizations if one["name"] == name]

    page.goto(f"/people?organization={made['id']}")
    expect(page.get_by_text("No users yet")).to_be_visible()
    add(page, f"first.{office.organization_id[-8:]}@example.org", "correct horse battery")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text(name)

    page.goto("/people?tab=organizations")
    expect(row(page, name)).to_be_visible()
    window.shoot("people-organizations")
    choose(page, name, "Rename…")
    page.get_by_role("dialog").get_by_label("Name").fill(f"{name} AS")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(row(page, f"{name} AS")).to_be_visible()


def test_people_are_found_by_a_part_of_their_address(office: DemoOrganization, windows: Windows) -> None:
    admin, editor = office.add_person("admin", is_admin=True), office.add_person("editor")
    page = windows.open(admin).page
    page.goto("/people")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("searchbox", name="Search by email").fill("editor")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(row(page, editor.email)).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?q=editor$"))
    page.get_by_role("searchbox").fill("nobody")
    expect(page.get_by_text("No users found")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator("tbody tr")).to_have_count(2)
