"""Purging selected documents: one result that names every document."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.archived_documents import add_archived, move, row
from tests.web.demo_organization import DemoOrganization, SignedInPerson, new_kb
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def select(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_label(f"Select {name}", exact=True).check()


def confirm(page: Page) -> None:
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Type DELETE to confirm").fill("DELETE")
    page.get_by_role("button", name="Delete permanently").click()


def test_the_result_names_every_document_and_why_one_was_skipped(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    contracts, minutes = new_kb(owner), new_kb(owner, "Board minutes")
    ids = add_archived(owner, contracts, *(f"Lease {number}.txt" for number in range(1, 6)))
    add_archived(owner, minutes, "Minutes.txt")
    window = windows.open(owner)
    page = window.page
    page.goto("/archive?sort=name")
    select(page, *ids, "Minutes.txt")
    window.shoot("archive-selected")
    page.get_by_role("button", name="Purge selected (6)").click()
    dialog = page.get_by_role("dialog", name="Permanently delete 6 documents? This cannot be undone.")
    expect(dialog.get_by_role("listitem")).to_have_count(6)  # five names and the remainder
    expect(dialog.get_by_text("and 1 more")).to_be_visible()
    expect(dialog.get_by_text("From 2 knowledge bases")).to_be_visible()
    # Someone else restores one of them in the meantime.
    move(owner, contracts, ids["Lease 3.txt"], "restore")
    confirm(page)

    result = page.get_by_role("dialog", name="5 documents purged, 1 skipped")
    expect(result.get_by_role("listitem")).to_have_count(6)
    skipped = result.get_by_role("listitem").filter(has_text="Lease 3.txt")
    expect(skipped).to_contain_text("Only archived documents can be purged")
    window.shoot("archive-purge-result")
    result.get_by_role("button", name="Receipt for Minutes.txt").click()
    expect(page.get_by_role("dialog", name="Deletion receipt").get_by_text("Minutes.txt", exact=True)).to_be_visible()
    page.get_by_role("dialog", name="Deletion receipt").get_by_role("button", name="Close").click()
    result.get_by_role("button", name="Close").click()
    expect(page.get_by_text("No archived documents")).to_be_visible()
    assert len(owner.api.get("/api/v1/receipts").json()["items"]) == 5

    page.get_by_role("link", name="Receipts").click()
    expect(page.get_by_role("heading", name="Receipts")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(5)
    window.shoot("archive-receipts")


def test_too_many_purges_count_down_and_can_be_stopped(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    ids = add_archived(owner, kb_id, "Lease 1.txt", "Lease 2.txt")
    use_up(owner, kb_id, ids["Lease 1.txt"])
    window = windows.open(owner)
    page = window.page
    page.goto("/archive")
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Purge selected (2)").click()
    confirm(page)
    expect(page.get_by_role("button", name=re.compile(r"Continues in \d+ s"))).to_be_visible()
    window.shoot("archive-purge-waits")
    page.get_by_role("button", name="Stop").click()
    result = page.get_by_role("dialog", name="0 documents purged, 2 not attempted")
    expect(result.get_by_text("Stopped before this document. It is unchanged.")).to_have_count(2)
    result.get_by_role("button", name="Close").click()
    expect(row(page, "Lease 2.txt")).to_be_visible()


def use_up(owner: SignedInPerson, kb_id: str, document_id: str) -> None:
    """Use up the rate limit of this minute with a document that is skipped."""
    move(owner, kb_id, document_id, "restore")
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/bulk-purge"
    while owner.api.post(url, json={"document_ids": [document_id]}).status_code == 200:
        pass
    move(owner, kb_id, document_id, "archive")
