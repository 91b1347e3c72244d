"""The details of a document: history, similar documents, why it failed, and the status of its hand-over."""

import re
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.fake_paperless.fake import FakePaperlessServers
from tests.support.folders import shared_folder
from tests.support.running_server import EMAIL, PASSWORD, RunningServer, free_port, wait_until
from tests.web.demo_organization import (
    DemoOrganization,
    SignedInPerson,
    add_member,
    new_client,
    new_kb,
    upload,
    wait_until_final,
)
from tests.web.document_page import open_document, read, text
from tests.web.sample_pdfs import agreement_pdf, letter_pdf
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_the_history_tells_who_did_what_with_its_seal_and_an_admin_verifies_it(
    office: DemoOrganization, windows: Windows
) -> None:
    admin = office.add_person("admin", is_admin=True)
    kb_id = new_kb(admin)
    document_id = read(admin, kb_id, "Agreement.pdf", agreement_pdf(1))
    for move in ("archive", "restore"):
        assert admin.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/{move}").status_code == 200

    window = windows.open(admin)
    page = window.page
    open_document(page, kb_id, document_id)
    lines = page.get_by_role("complementary", name="Document details").get_by_role("listitem")
    expect(lines).to_have_count(4)
    verbs = [line.locator("strong").inner_text() for line in lines.all()]
    assert verbs == ["Restored", "Archived", "Completed", "Uploaded"]
    expect(lines.last).to_contain_text("you")
    expect(page.get_by_text("All 3 events are sealed.")).to_be_visible(timeout=60_000)
    expect(lines.last).to_contain_text(re.compile(r"#\d+"))
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("The audit log is intact")).to_be_visible(timeout=60_000)
    window.shoot("document-history")


def test_who_may_not_read_the_trail_still_learns_when_it_came_and_from_whom(
    office: DemoOrganization, windows: Windows
) -> None:
    owner, viewer = office.add_person(), office.add_person("viewer")
    kb_id = new_kb(owner)
    add_member(owner, kb_id, viewer, "viewer")
    document_id = read(owner, kb_id, "Agreement.pdf", agreement_pdf(1))
    page = windows.open(viewer).page
    open_document(page, kb_id, document_id)
    panel = page.get_by_role("complementary", name="Document details")
    expect(panel.get_by_role("listitem")).to_have_count(2)
    expect(panel.get_by_role("listitem").last).to_contain_text(owner.email)
    expect(panel.get_by_text("Only owners and admins can see who made each change.")).to_be_visible()
    expect(panel.get_by_role("button", name="Verify")).to_have_count(0)


def test_similar_documents_lead_to_their_nearest_passage(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    first, second = new_kb(owner), new_kb(owner, "Buildings")
    document_id = read(owner, first, "Lift.pdf", letter_pdf("The lift is inspected twice a year by the supplier."))
    read(owner, second, "Lift 2.pdf", letter_pdf("The supplier inspects the lift two times each year."))
    page = windows.open(owner).page
    open_document(page, first, document_id, tab="similar")
    link = page.get_by_role("link", name="Lift 2.pdf")
    expect(link).to_be_visible()
    link.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Lift 2.pdf")
    expect(text(page).locator(".prose-part[data-passage]")).to_contain_text("inspects the lift")


def test_a_failed_document_explains_itself(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "Broken.pdf", b"%PDF-1.7\nthis is no page tree")
    (document,) = wait_until_final(owner, kb_id, [document_id])
    page = windows.open(owner).page
    open_document(page, kb_id, document_id)
    alert = page.get_by_role("alert").filter(has_text="This document could not be processed")
    expect(alert).to_contain_text(document["last_error"])
    expect(page.get_by_text("You can process it again with Retry.")).to_be_visible()
    page.get_by_role("button", name="Actions for Broken.pdf").click()
    page.get_by_role("menuitem", name="Clear…").click()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page).to_have_url(re.compile(rf"/kb\?id={kb_id}"))


def test_the_page_appears_by_itself_when_the_document_has_been_read(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    document_id = upload(owner, kb_id, "Agreement.pdf", agreement_pdf(30))
    page = windows.open(owner).page
    open_document(page, kb_id, document_id)
    expect(text(page).get_by_text("This agreement enters into force").first).to_be_visible(timeout=60_000)


def test_a_document_in_paperless_shows_the_way_there(
    browser: Browser, prepared_data_dir: Path, paperless_servers: FakePaperlessServers
) -> None:
    paperless = paperless_servers.of(3)
    with shared_folder() as folder:
        settings = {
            "PAPERLESS_URL": paperless.url,
            "PAPERLESS_API_TOKEN": paperless.token,
            "MUNIMENT_ARCHIVER_INTERVAL": "1s",
            "MUNIMENT_ARCHIVER_METRICS_PORT": str(free_port()),
        }
        with RunningServer(folder, prepared_data_dir, **settings) as muniment:
            muniment.start()
            client = new_client(muniment)
            person = SignedInPerson("", EMAIL, PASSWORD, client)
            kb_id = new_kb(person)
            document_id = read(person, kb_id, "Agreement.pdf", agreement_pdf(1))
            url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
            answer = client.post(f"{url}/hand-over")
            assert answer.status_code in (200, 202), answer.text
            wait_until(lambda: client.get(url).json()["archive_status"] == "archived")
            document = client.get(url).json()
            with closing(Windows(browser, muniment.url)) as windows:
                window = windows.open(person)
                page = window.page
                open_document(page, kb_id, document_id)
                expect(page.get_by_role("heading", name="Stored in Paperless")).to_be_visible()
                link = page.get_by_role("link", name="Open in Paperless")
                expect(link).to_have_attribute("href", document["paperless_doc_url"])
                expect(link).to_have_attribute("rel", re.compile("noopener"))
                window.shoot("document-paperless")
            client.close()
