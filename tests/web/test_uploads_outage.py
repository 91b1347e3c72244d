from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.folders import shared_folder
from tests.support.running_server import RunningServer, wait_until
from tests.web.demo_organization import DemoOrganization, create_demo_organization, new_client, new_kb
from tests.web.documents_page import PATIENCE_MS, drop, line, open_kb, row, windows_at
from tests.web.flaky_proxy import FlakyProxy

pytestmark = pytest.mark.slow


@pytest.fixture
def own_muniment(prepared_data_dir: Path) -> Iterator[RunningServer]:
    """A server that the test may stop."""
    with shared_folder() as folder, RunningServer(folder, prepared_data_dir) as installation:
        yield installation.start()


def test_a_server_that_is_stopped_in_mid_upload_gets_the_file_when_it_is_back(
    own_muniment: RunningServer, browser: Browser, tmp_path: Path
) -> None:
    with closing(new_client(own_muniment)) as operator, windows_at(browser, own_muniment.url) as windows:
        office = create_demo_organization(own_muniment, operator)
        owner = office.add_person()
        kb_id = new_kb(owner)
        large = tmp_path / "large.txt"
        large.write_bytes(b"The tenant pays on the third of the month. " * 1_000_000)
        window = windows.open(owner)
        page = window.page
        open_kb(page, kb_id)
        # Slow, so that the upload takes a while.
        session = page.context.new_cdp_session(page)
        slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2_000_000}
        session.send("Network.emulateNetworkConditions", slow)
        drop(page, large)
        expect(line(page, "large.txt")).to_contain_text("Uploading", timeout=PATIENCE_MS)
        own_muniment.kill_everybody()
        expect(line(page, "large.txt")).to_contain_text("Paused: no connection", timeout=PATIENCE_MS)
        expect(line(page, "large.txt")).to_contain_text("resumes automatically")
        window.shoot("uploads-paused")
        session.send("Network.emulateNetworkConditions", slow | {"uploadThroughput": -1})
        own_muniment.start()
        expect(row(page, "large.txt")).to_be_visible(timeout=PATIENCE_MS)
        url = f"/api/v1/knowledge-bases/{kb_id}/documents"
        stored = owner.api.get(url).json()["items"]
        assert [(one["name"], one["file_size"]) for one in stored] == [("large.txt", 43_000_000)]
        owner.api.post(f"{url}/{stored[0]['id']}/cancel")
        office.close()


def test_a_file_whose_answer_got_lost_is_no_duplicate_of_itself(
    office: DemoOrganization, browser: Browser, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    file = tmp_path / "lease.txt"
    file.write_text("The tenant pays on the third of the month.")
    sent: list[bytes] = []

    def is_first(piece: bytes) -> bool:
        if b'filename="lease.txt"' in piece:
            sent.append(piece)
        return b'filename="lease.txt"' in piece and len(sent) == 1

    with (
        FlakyProxy(office.muniment.port, is_first, after_the_request=True) as wire,
        windows_at(browser, wire.url) as windows,
    ):
        page = windows.open(owner).page
        open_kb(page, kb_id)
        drop(page, file)
        expect(line(page, "lease.txt")).to_contain_text("Done", timeout=PATIENCE_MS)
        expect(page.get_by_role("dialog")).to_be_hidden()
    assert len(sent) == 2, "it was sent again"
    assert owner.api.get(f"/api/v1/knowledge-bases/{kb_id}/documents").json()["total"] == 1


def test_a_connection_that_breaks_on_one_file_only_does_not_try_for_ever(
    office: DemoOrganization, browser: Browser, tmp_path: Path
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner)
    for name in ("cursed.txt", "blessed.txt"):
        (tmp_path / name).write_text(name)
    with (
        FlakyProxy(office.muniment.port, lambda piece: b'filename="cursed.txt"' in piece) as wire,
        windows_at(browser, wire.url) as windows,
    ):
        page = windows.open(owner).page
        open_kb(page, kb_id)
        drop(page, tmp_path / "cursed.txt", tmp_path / "blessed.txt")
        expect(line(page, "cursed.txt").get_by_role("button", name="Retry")).to_be_visible(timeout=PATIENCE_MS)
        url = f"/api/v1/knowledge-bases/{kb_id}/documents"
        wait_until(lambda: [one["name"] for one in owner.api.get(url).json()["items"]] == ["blessed.txt"])
