"""From one call of an application to a proven document in Paperless, on one machine with one command."""

import signal
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.documents.uploads import a_pdf
from tests.support.fake_paperless.fake import FakePaperless, FakePaperlessServers
from tests.support.running_server import RunningServer, free_port, wait_until

pytestmark = pytest.mark.slow


def installation(folder: Path, prepared: Path, paperless: FakePaperless, port: int) -> RunningServer:
    return RunningServer(
        folder,
        prepared,
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


def test_a_handed_over_document_reaches_paperless_automatically(
    folder: Path, prepared_data_dir: Path, paperless_servers: FakePaperlessServers
) -> None:
    """Even if the archiver is killed: another one replaces it."""
    port, paperless = free_port(), paperless_servers.of(3)
    with installation(folder, prepared_data_dir, paperless, port) as muniment:
        muniment.start()
        archiver = muniment.child("archiver watch")
        assert archiver.environ()["PAPERLESS_API_TOKEN"] == paperless.token
        for name in ("muniment api", "muniment worker"):
            assert paperless.token not in str(muniment.child(name).environ())
        archiver.kill()
        wait_until(lambda: muniment.said.count('"name": "archiver"') > 2)
        assert muniment.child("archiver watch").pid != archiver.pid

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
