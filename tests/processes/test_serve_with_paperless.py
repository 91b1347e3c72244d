"""From an application's one call to a proven document in Paperless, everything on one machine by one command."""

import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.documents.uploads import a_pdf
from tests.support.fake_paperless.fake import FakePaperless, fake_paperless
from tests.support.running_server import RunningServer, free_port, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def paperless(tmp_path: Path) -> Iterator[FakePaperless]:
    with fake_paperless(tmp_path) as server:
        yield server


def installation(folder: Path, paperless: FakePaperless, port: int) -> RunningServer:
    return RunningServer(
        folder,
        PAPERLESS_URL=paperless.url,
        PAPERLESS_API_TOKEN=paperless.token,
        MUNIMENT_ARCHIVER_INTERVAL="1s",
        MUNIMENT_ARCHIVER_METRICS_PORT=str(port),
    )


def hand_over(client: httpx.Client) -> str:
    organization_id = client.get("/api/v1/auth/me").json()["organization_id"]
    answer = client.post(
        f"/api/v1/organizations/{organization_id}/archive",
        files={"file": ("invoice.pdf", a_pdf())},
        data={"document_type": "invoice", "document_id": str(uuid4())},
    )
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job_id"])


def test_what_is_handed_over_ends_in_paperless_by_itself(folder: Path, paperless: FakePaperless) -> None:
    port = free_port()
    with installation(folder, paperless, port) as muniment:
        muniment.start()
        with muniment.client() as client:
            job = hand_over(client)
            wait_until(lambda: client.get("/api/v1/archive/queue").json()["total"] == 0)

        [document] = paperless.documents()
        assert job.endswith(f"/invoice/{document.sha256}.pdf")
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
        assert "archive_jobs_processed_total 1.0" in metrics
        assert muniment.stop(signal.SIGINT) == 0
        muniment.wait_until_nobody_is_left()
        assert "Traceback" not in muniment.said
        assert paperless.token not in muniment.said


def test_the_archiver_may_be_killed_and_comes_back(folder: Path, paperless: FakePaperless) -> None:
    with installation(folder, paperless, free_port()) as muniment:
        muniment.start()
        archiver = muniment.child("archiver watch")
        archiver.kill()
        wait_until(lambda: muniment.said.count('"name": "archiver"') > 2)
        assert muniment.child("archiver watch").pid != archiver.pid
