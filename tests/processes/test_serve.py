import os
import re
import signal
import stat
from pathlib import Path

import httpx
import pytest

from tests.support.running_server import RunningServer, free_port, upload, wait_until

pytestmark = pytest.mark.slow


def test_one_command_starts_everything_and_says_where(folder: Path) -> None:
    with RunningServer(folder) as muniment:
        muniment.start()
        assert muniment.url in muniment.said
        assert "admin@example.org" in muniment.said
        with muniment.client() as client:
            kb_id, document_id = upload(client, "lease.txt", b"The tenant pays.")
            assert client.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}").json()["status"] == "pending"
            wait_until(lambda: client.get("/health/ready").json()["checks"]["tasks"]["status"] == "ok")


def test_api_and_worker_show_their_metrics_as_the_settings_say(folder: Path) -> None:
    worker = f"http://127.0.0.1:{free_port()}"
    chosen = {"MUNIMENT_METRICS_PREFIX": "lumikb", "MUNIMENT_METRICS_TENANT_LABELS": "false"}
    with RunningServer(folder, MUNIMENT_WORKER_METRICS_PORT=worker.rpartition(":")[2], **chosen) as muniment:
        muniment.start()
        wait_until(lambda: _answers(worker))
        for url in (muniment.url, worker):
            shown = httpx.get(f"{url}/metrics", trust_env=False).text
            # A counter without labels is there from the start.
            assert "\nlumikb_documents_archived_total 0.0\n" in shown
            assert "muniment_" not in shown


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/metrics", trust_env=False).is_success
    except httpx.ConnectError:
        return False


def test_ctrl_c_stops_api_then_worker_then_postgres_and_leaves_nobody(folder: Path) -> None:
    with RunningServer(folder) as muniment:
        muniment.start()
        assert muniment.stop(signal.SIGINT) == 0
        muniment.wait_until_nobody_is_left()
        stops = [
            match[1] or "postgres"
            for match in re.finditer(
                r'(?:"name": "(\w+)", )?"code": 0, "event": "supervisor.\w+_stopped"', muniment.said
            )
        ]
        assert stops == ["api", "worker", "postgres"]
        assert "Traceback" not in muniment.said


@pytest.mark.parametrize("killed", ["everybody", "api", "worker", "postgres", "supervisor"])
def test_kill_9_loses_no_acknowledged_document(folder: Path, killed: str) -> None:
    with RunningServer(folder) as muniment:
        muniment.start()
        with muniment.client() as client:
            kb_id, document_id = upload(client, "lease.txt", b"The tenant pays.")
        if killed in ("everybody", "supervisor"):
            assert muniment.process is not None
            muniment.kill_everybody() if killed == "everybody" else muniment.process.kill()
            muniment.process.wait()
            muniment.start()
        else:
            victim = muniment.child(r"postgres -D" if killed == "postgres" else rf"muniment {killed}$")
            victim.kill()
            wait_until(lambda: not victim.is_running())
        wait_until(lambda: _is_ready(muniment))
        with muniment.client() as client:
            answer = client.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/download")
            assert answer.content == b"The tenant pays."
            upload(client, "second.txt", b"Life goes on.", kb_id)


def test_a_second_start_in_the_same_directory_is_refused_and_harms_nothing(folder: Path) -> None:
    with RunningServer(folder) as muniment:
        muniment.start()
        second = muniment.run("serve")
        assert second.returncode == 1
        assert "already running" in second.stderr
        assert "Traceback" not in second.stderr
        assert _is_ready(muniment)


def test_a_database_that_is_gone_is_not_replaced_by_an_empty_one(folder: Path) -> None:
    with RunningServer(folder) as muniment:
        muniment.start()
        muniment.stop()
        (muniment.data_dir / "postgres").rename(folder / "elsewhere")
        refused = muniment.run("serve")
        assert refused.returncode == 1
        assert "are gone" in refused.stderr
        (folder / "elsewhere").rename(muniment.data_dir / "postgres")
        muniment.start()


def test_a_taken_port_is_said_before_anything_starts(folder: Path) -> None:
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    with RunningServer(folder / "one") as first:
        first.start()
        second = RunningServer(folder / "two", MUNIMENT_PORT=str(first.port)).run("serve")
    assert second.returncode == 1
    assert "MUNIMENT_PORT" in second.stderr


def test_without_a_password_the_link_signs_in_once(folder: Path) -> None:
    with RunningServer(folder, MUNIMENT_ADMIN_EMAIL="", MUNIMENT_ADMIN_PASSWORD="") as muniment:
        muniment.start()
        link = re.search(r"/sign-in#token=(\S+)", muniment.said)
        assert link is not None
        with httpx.Client(base_url=muniment.url, trust_env=False) as client:
            assert client.get("/sign-in").status_code == 200
            assert client.post("/api/v1/auth/redeem", json={"token": link[1]}).status_code == 200
            assert client.get("/api/v1/auth/me").json()["is_operator"] is True
            assert client.post("/api/v1/auth/redeem", json={"token": link[1]}).status_code == 401
            assert client.put("/api/v1/auth/password", json={"new_password": "a new password"}).status_code == 204
        muniment.stop()
        muniment.start()
        assert "#token=" not in muniment.said.split("is ready")[-1]


def test_below_the_disk_floor_uploads_are_507_and_reading_goes_on(folder: Path) -> None:
    with RunningServer(folder) as muniment:
        muniment.start()
        with muniment.client() as client:
            kb_id, document_id = upload(client, "lease.txt", b"The tenant pays.")
        muniment.stop()
    with RunningServer(folder, MUNIMENT_DISK_FLOOR_BYTES=str(2**60)) as muniment:
        muniment.start()
        with muniment.client() as client:
            documents = f"/api/v1/knowledge-bases/{kb_id}/documents"
            refused = client.post(documents, files={"file": ("second.txt", b"No room.")})
            assert refused.status_code == 507
            assert client.get(f"{documents}/{document_id}/download").content == b"The tenant pays."
            assert client.get(documents).json()["total"] == 1
            assert client.get("/health/ready").json()["checks"]["disk"]["status"] == "failed"


def test_what_lies_in_the_data_directory_is_closed_to_others(folder: Path) -> None:
    with RunningServer(folder) as muniment:
        muniment.start()
        muniment.stop()
    for path in (muniment.data_dir / "secrets").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for name in ("secrets", "blobs"):
        assert stat.S_IMODE((muniment.data_dir / name).stat().st_mode) == 0o700
    assert stat.S_IMODE(muniment.data_dir.stat().st_mode) & 0o077 in (0, 0o011)


def test_it_runs_below_a_directory_that_only_its_owner_may_enter(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with RunningServer(closed) as muniment:
        muniment.start()
        with muniment.client() as client:
            upload(client, "lease.txt", b"The tenant pays.")
        if os.geteuid() == 0:
            # The server's user cannot pass through: the cluster is elsewhere, and the data directory says where.
            assert "/var/lib/muniment/" in (muniment.data_dir / "postgres.json").read_text()


def _is_ready(muniment: RunningServer) -> bool:
    try:
        return httpx.get(f"{muniment.url}/health/ready", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
