"""Viewer, editor, owner, admin, operator: each sees exactly what their role allows."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.archived_documents import add_archived, row
from tests.web.demo_organization import DemoOrganization, add_member, new_kb
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

PLACES = ("Search", "Archive", "Audit log", "Users", "System")


def places(page: Page) -> list[str]:
    """Return the links of the sidebar, without the knowledge bases."""
    expect(page.get_by_role("link", name="Search", exact=True)).to_be_visible()
    sidebar = page.get_by_role("complementary", name="Main")
    return [place for place in PLACES if sidebar.get_by_role("link", name=re.compile(rf"^{place}( [\d,]+)?$")).count()]


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_members_see_neither_archive_nor_trail(office: DemoOrganization, windows: Windows, role: str) -> None:
    owner, member = office.add_person(), office.add_person(role)
    kb_id = new_kb(owner)
    add_archived(owner, kb_id, "Lease.txt")
    add_member(owner, kb_id, member, role)
    page = windows.open(member).page
    for address, sentence in (
        ("/archive", "Only owners and admins can view the archive"),
        ("/audit", "Only owners and admins can view the audit log"),
        ("/people", "Only admins and operators can view this page"),
        ("/operations", "Only operators and admins can view this page"),
    ):
        page.goto(address)
        expect(page.get_by_text(sentence)).to_be_visible()
    assert places(page) == ["Search"]
    expect(page.get_by_text("Lease.txt")).to_have_count(0)


def test_an_owner_sees_the_archive_and_trail_of_their_own(office: DemoOrganization, windows: Windows) -> None:
    owner, other = office.add_person(), office.add_person("other")
    add_archived(owner, new_kb(owner, "Mine"), "Lease.txt")
    add_archived(other, new_kb(other, "Theirs"), "Secret.txt")
    page = windows.open(owner).page
    page.goto("/archive")
    expect(row(page, "Lease.txt")).to_be_visible()
    expect(page.get_by_text("Secret.txt")).to_have_count(0)
    assert places(page) == ["Search", "Archive", "Audit log"]
    page.goto("/audit")
    expect(page.get_by_role("button", name="Details: Archived Lease.txt")).to_be_visible()
    expect(page.get_by_text("Secret.txt")).to_have_count(0)
    expect(page.get_by_role("button", name="Verify")).to_have_count(0)


def test_an_admin_sees_the_organization_and_no_queue(office: DemoOrganization, windows: Windows) -> None:
    owner, admin = office.add_person(), office.add_person("admin", is_admin=True)
    add_archived(owner, new_kb(owner), "Lease.txt")
    page = windows.open(admin).page
    page.goto("/archive")
    expect(row(page, "Lease.txt")).to_be_visible()
    assert places(page) == list(PLACES)
    page.goto("/operations")
    expect(page.get_by_role("region", name="Saved by reuse")).to_be_visible()
    expect(page.get_by_role("region", name="Dead-letter queue")).to_have_count(0)
    page.goto("/people")
    expect(page.get_by_role("button", name="Organizations")).to_have_count(0)
    for somebody in (owner, admin):
        expect(row(page, somebody.email)).to_be_visible()


def test_an_operator_sees_the_installation_and_no_name_of_a_document(
    office: DemoOrganization, windows: Windows
) -> None:
    owner, operator = office.add_person(), office.add_person("operator", is_operator=True)
    add_archived(owner, new_kb(owner), "Lease.txt")
    page = windows.open(operator).page
    page.goto("/archive")
    expect(page.get_by_text("Only owners and admins can view the archive")).to_be_visible()
    assert places(page) == ["Search", "Audit log", "Users", "System"]
    page.goto("/audit")  # of the installation, without events of organizations
    expect(page.get_by_role("button", name="Verify")).to_be_visible()
    expect(page.get_by_text("No system events yet")).to_be_visible()
    expect(page.get_by_text("Lease.txt")).to_have_count(0)
    page.goto("/operations")
    expect(page.get_by_role("region", name="Dead-letter queue")).to_be_visible()
    expect(page.get_by_role("region", name="Saved by reuse")).to_have_count(0)
    assert "Lease" not in page.content()


def test_nobody_sees_another_organization(office: DemoOrganization, windows: Windows) -> None:
    admin = office.add_person("admin", is_admin=True)
    page = windows.open(admin).page
    page.goto("/people")
    expect(row(page, admin.email)).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)
