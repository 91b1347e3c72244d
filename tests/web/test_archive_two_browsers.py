"""Two users in the same archive: each is told what the other has done."""

import pytest
from playwright.sync_api import expect

from tests.web.archived_documents import add_archived, choose, row
from tests.web.demo_organization import DemoOrganization, new_kb
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_what_one_purges_leaves_the_other_ones_list_and_cannot_be_restored_there(
    office: DemoOrganization, windows: Windows
) -> None:
    owner, admin = office.add_person(), office.add_person("admin", is_admin=True)
    kb_id = new_kb(owner)
    add_archived(owner, kb_id, "Lease.txt", "Minutes.txt")
    theirs, ours = windows.open(owner).page, windows.open(admin).page
    theirs.goto("/archive")
    ours.goto("/archive")
    # The owner's dialog is open when the admin purges.
    choose(theirs, "Lease.txt", "Restore…")
    expect(theirs.get_by_role("dialog")).to_be_visible()

    choose(ours, "Lease.txt", "Purge…")
    ours.get_by_role("button", name="Continue").click()
    ours.get_by_label("Type DELETE to confirm").fill("DELETE")
    ours.get_by_role("button", name="Delete permanently").click()
    expect(ours.get_by_text("Permanently deleted 'Lease.txt'")).to_be_visible()
    expect(row(ours, "Minutes.txt")).to_be_visible()  # the dialog is closed
    expect(row(ours, "Lease.txt")).to_have_count(0)

    theirs.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(theirs.get_by_role("alert")).to_contain_text("Document not found")
    expect(theirs.get_by_role("alert")).to_contain_text("This document has been purged")
    theirs.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(row(theirs, "Minutes.txt")).to_be_visible()
    expect(row(theirs, "Lease.txt")).to_have_count(0)


def test_what_one_restores_the_other_can_no_longer_purge(office: DemoOrganization, windows: Windows) -> None:
    owner, admin = office.add_person(), office.add_person("admin", is_admin=True)
    kb_id = new_kb(owner)
    add_archived(owner, kb_id, "Lease.txt")
    theirs, ours = windows.open(owner).page, windows.open(admin).page
    for page in (theirs, ours):
        page.goto("/archive")
    choose(ours, "Lease.txt", "Purge…")
    ours.get_by_role("button", name="Continue").click()
    theirs.get_by_role("button", name="Restore Lease.txt").click()
    theirs.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(theirs.get_by_text("No archived documents")).to_be_visible()

    ours.get_by_label("Type DELETE to confirm").fill("DELETE")
    ours.get_by_role("button", name="Delete permanently").click()
    expect(ours.get_by_role("alert")).to_contain_text("Only archived documents can be purged")
    expect(ours.get_by_role("alert")).to_contain_text("Someone else has restored this document.")
