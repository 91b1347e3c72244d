"""Names and contents are untrusted: they are only ever shown as text."""

from pathlib import Path

import pytest
from playwright.sync_api import Dialog, expect

from tests.web.demo_organization import DemoOrganization, new_kb, upload, wait_until_final
from tests.web.documents_page import PATIENCE_MS, choose, drop, open_kb, row
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

SCRIPT = "<img src=x onerror='window.ran = 1; alert(1)'>.txt"
HTML = (
    b"<html><body><script>window.ran = 1; alert(1)</script><img src=x onerror=alert(1)><p>The deed.</p></body></html>"
)


def test_a_name_and_an_upload_full_of_html_run_nothing(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner, name="<b onmouseover=alert(1)>Deeds</b>")
    wait_until_final(owner, kb_id, [upload(owner, kb_id, SCRIPT), upload(owner, kb_id, "deed.html", HTML)])
    page = windows.open(owner).page
    alarms: list[str] = []

    def note(dialog: Dialog) -> None:
        alarms.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    open_kb(page, kb_id)
    expect(page.get_by_role("heading", level=1)).to_have_text("<b onmouseover=alert(1)>Deeds</b>")
    expect(page.get_by_text("<img src=x")).to_be_visible()
    choose(page, SCRIPT, "Archive…")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"Archive '{SCRIPT}'?")
    dialog.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("region", name="Notifications")).to_contain_text(f"Archived '{SCRIPT}'")
    choose(page, "deed.html", "Status details")
    expect(page.get_by_role("dialog")).to_contain_text("deed.html")
    assert page.locator("img").count() == 0
    assert page.evaluate("window.ran") is None
    assert alarms == []


def test_a_dropped_file_with_such_a_name_runs_nothing(
    office: DemoOrganization, windows: Windows, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    file = tmp_path / "<img src=x onerror=window.ran=1>.html"
    file.write_bytes(HTML)
    page = windows.open(owner).page
    open_kb(page, kb_id)
    drop(page, file)
    expect(row(page, file.name)).to_contain_text("Completed", timeout=PATIENCE_MS)
    drop(page, file)
    expect(page.get_by_role("dialog")).to_contain_text(file.name)
    assert page.locator("img").count() == 0
    assert page.evaluate("window.ran") is None
