"""Purging one document: two steps, a receipt, and obstacles."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.archived_documents import add_archived, add_archived_pdf, choose, move, row
from tests.web.demo_organization import DemoOrganization, new_kb
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

QUESTION = "Permanently delete 'Lease.txt'? This cannot be undone."


def type_the_word(page: Page, word: str = "DELETE") -> None:
    page.get_by_label("Type DELETE to confirm").fill(word)


def test_a_purge_takes_two_steps_and_leaves_a_receipt_that_proves_itself(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    [lease] = add_archived(owner, kb_id, "Lease.txt").values()
    window = windows.open(owner)
    page = window.page
    page.goto("/archive")
    choose(page, "Lease.txt", "Purge…")
    dialog = page.get_by_role("dialog", name=QUESTION)
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    expect(dialog.get_by_text("Step 1 of 2")).to_be_visible()
    window.shoot("archive-purge-1")
    dialog.get_by_role("button", name="Continue").click()

    delete = dialog.get_by_role("button", name="Delete permanently")
    for wrong in ("", "delete", "DELETE ", "DELET"):
        type_the_word(page, wrong)
        expect(delete).to_be_disabled()
    expect(dialog.get_by_text("What is deleted")).to_be_visible()
    window.shoot("archive-purge-2")
    assert owner.api.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{lease}").json()["status"] == "archived"
    type_the_word(page)
    delete.click()
    expect(page.get_by_text("No archived documents")).to_be_visible()
    assert owner.api.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{lease}").status_code == 404

    page.get_by_role("button", name="View receipt", exact=True).click()
    receipt = page.get_by_role("dialog", name="Deletion receipt")
    expect(receipt.get_by_text("Lease.txt", exact=True)).to_be_visible()
    expect(receipt.get_by_role("row", name=re.compile(r"Database rows \d+ 0"))).to_be_visible()
    expect(receipt.get_by_text(f"by {owner.email}")).to_be_visible()
    window.shoot("archive-receipt")
    with page.expect_download() as download:
        receipt.get_by_role("link", name="Download JSON").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    checked = office.muniment.run("receipt", "verify", str(file))
    assert checked.returncode == 0, checked.stderr
    assert "Valid. Purge of 'Lease.txt'" in checked.stdout
    forged = json.loads(file.read_text())
    forged["record"]["document"]["name"] = "Other.txt"
    file.write_text(json.dumps(forged))
    assert office.muniment.run("receipt", "verify", str(file)).returncode != 0


def test_a_document_that_waits_to_be_handed_over_is_purged_only_by_taking_that_back(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = add_archived_pdf(owner, kb_id, "Lease.pdf")
    move(owner, kb_id, document_id, "hand-over")
    window = windows.open(owner)
    page = window.page
    page.goto("/archive")
    choose(page, "Lease.pdf", "Purge…")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Also cancel sending to Paperless")).to_have_count(0)
    dialog.get_by_role("button", name="Continue").click()
    type_the_word(page)
    dialog.get_by_role("button", name="Delete permanently").click()

    expect(dialog.get_by_role("alert")).to_contain_text("The document is being sent to Paperless")
    expect(dialog.get_by_role("alert")).to_contain_text("or cancel sending here")
    dialog.get_by_label("Also cancel sending to Paperless").check()
    window.shoot("archive-purge-hand-over")
    dialog.get_by_role("button", name="Continue").click()
    dialog.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_text("No archived documents")).to_be_visible()


def test_cancel_and_escape_destroy_nothing(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    add_archived(owner, new_kb(owner), "Lease.txt")
    page = windows.open(owner).page
    page.goto("/archive")
    choose(page, "Lease.txt", "Purge…")
    page.get_by_role("button", name="Continue").click()
    type_the_word(page)
    page.get_by_role("button", name="Back").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    # The confirmation typed before does not count the next time.
    choose(page, "Lease.txt", "Purge…")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("button", name="Delete permanently")).to_be_disabled()
    page.get_by_role("button", name="Cancel").click()
    expect(row(page, "Lease.txt")).to_be_visible()
