"""A folder of many small files goes in few requests, each file with its own result."""

from pathlib import Path

import pytest
from playwright.sync_api import Request, expect

from tests.support.running_server import wait_until
from tests.web.demo_organization import DemoOrganization, new_kb, upload
from tests.web.documents_page import drop, line, open_kb, tray
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

FILES = 100


def test_a_folder_of_many_files_goes_in_few_requests_and_each_file_has_its_own_result(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    folder = tmp_path / "Letters"
    folder.mkdir()
    # Of the same content, which is processed once only: this is about sending them.
    for number in range(FILES):
        (folder / f"letter-{number:03}.txt").write_text("The tenant pays on the third of the month.")
    (folder / "letter-007.txt").write_bytes(b"")
    upload(owner, kb_id, "letter-042.txt")
    page = windows.open(owner).page
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request) if request.method == "POST" else None)
    open_kb(page, kb_id)

    drop(page, folder)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("letter-042.txt")
    dialog.get_by_role("button", name="Cancel").click()
    # While the dialog is open, the page behind it is hidden from roles.
    expect(line(page, "letter-007.txt").get_by_role("alert")).to_contain_text("Failed")
    url = f"/api/v1/knowledge-bases/{kb_id}/documents"
    wait_until(lambda: owner.api.get(url).json()["total"] == FILES - 1)
    sent = [request for request in requests if request.url.endswith(url)]
    assert len(sent) <= FILES / 4
    expect(tray(page).get_by_role("button", name="Uploads: 0 of 1. Collapse uploads")).to_be_visible()
    expect(tray(page).locator("li")).to_have_count(1)
