import json
import os
import re
import signal
import stat
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.running_server import RunningServer, free_port, upload, wait_until

pytestmark = pytest.mark.slow


def test_one_command_starts_everything_and_ctrl_c_ends_it(folder: Path) -> None:
    """Start from an empty directory once and check everything that an undisturbed server shows."""
    worker = f"http://127.0.0.1:{free_port()}"
    chosen = {"MUNIMENT_METRICS_PREFIX": "lumikb", "MUNIMENT_METRICS_TENANT_LABELS": "false"}
    with RunningServer(folder, MUNIMENT_WORKER_METRICS_PORT=worker.rpartition(":")[2], **chosen) as muniment:
        muniment.start()
        assert muniment.url in muniment.said
        assert "admin@example.org" in muniment.said
        with muniment.client() as client:
            kb_id, document_id = upload(client, "lease.txt", b"The tenant pays.")
            document = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
            wait_until(lambda: client.get(document).json()["status"] == "completed")
            wait_until(lambda: client.get("/health/ready").json()["checks"]["tasks"]["status"] == "ok")
        check_metrics(muniment.url, worker)
        check_a_second_start_is_refused(muniment)
        check_a_taken_port_is_said_before_anything_starts(muniment)
        assert _is_ready(muniment)
        check_ctrl_c_stops_api_then_worker_then_postgres(muniment)
        check_the_data_directory_is_closed_to_others(muniment.data_dir)


def check_metrics(*urls: str) -> None:
    """Check that API and worker expose their metrics as configured."""
    for url in urls:
        wait_until(partial(_has_metrics, url))
        shown = httpx.get(f"{url}/metrics", trust_env=False).text
        # A counter without labels is exported from the start.
        assert "\nlumikb_documents_archived_total 0.0\n" in shown
        assert "muniment_" not in shown


def check_a_second_start_is_refused(muniment: RunningServer) -> None:
    second = muniment.run("serve")
    assert second.returncode == 1
    assert "already running" in second.stderr
    assert "Traceback" not in second.stderr


def check_a_taken_port_is_said_before_anything_starts(muniment: RunningServer) -> None:
    other = muniment.folder / "other"
    other.mkdir()
    second = RunningServer(other, MUNIMENT_PORT=str(muniment.port)).run("serve")
    assert second.returncode == 1
    assert "MUNIMENT_PORT" in second.stderr


def check_ctrl_c_stops_api_then_worker_then_postgres(muniment: RunningServer) -> None:
    assert muniment.stop(signal.SIGINT) == 0
    muniment.wait_until_nobody_is_left()
    stops = [
        match[1] or "postgres"
        for match in re.finditer(r'(?:"name": "(\w+)", )?"code": 0, "event": "supervisor.\w+_stopped"', muniment.said)
    ]
    assert stops == ["api", "worker", "postgres"]
    assert "Traceback" not in muniment.said


def check_the_data_directory_is_closed_to_others(data_dir: Path) -> None:
    for path in (data_dir / "secrets").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for name in ("secrets", "blobs"):
        assert stat.S_IMODE((data_dir / name).stat().st_mode) == 0o700
    assert stat.S_IMODE(data_dir.stat().st_mode) & 0o077 in (0, 0o011)


def test_kill_9_loses_no_acknowledged_document(folder: Path, prepared_data_dir: Path) -> None:
    """Kill API, worker and database separately, then the supervisor, then all of them, on the same server."""
    with RunningServer(folder, prepared_data_dir) as muniment:
        muniment.start()
        with muniment.client() as client:
            kb_id, document_id = upload(client, "lease.txt", b"The tenant pays.")
        for number, pattern in enumerate((r"muniment api$", r"muniment worker$", r"postgres -D")):
            victim = muniment.child(pattern)
            victim.kill()
            wait_until(lambda: not victim.is_running())  # noqa: B023  # it is called in this iteration
            check_nothing_is_lost(muniment, kb_id, document_id, f"after {number}.txt")

        assert muniment.process is not None
        muniment.process.kill()
        muniment.process.wait()
        check_below_the_disk_floor(muniment, kb_id, document_id)

        muniment.kill_everybody()
        muniment.change_settings(MUNIMENT_DISK_FLOOR_BYTES="0")
        muniment.start()
        check_nothing_is_lost(muniment, kb_id, document_id, "at last.txt")


def check_nothing_is_lost(muniment: RunningServer, kb_id: str, document_id: str, next_name: str) -> None:
    wait_until(lambda: _is_ready(muniment))
    with muniment.client() as client:
        answer = client.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/download")
        assert answer.content == b"The tenant pays."
        upload(client, next_name, b"Life goes on.", kb_id)


def check_below_the_disk_floor(muniment: RunningServer, kb_id: str, document_id: str) -> None:
    """Uploads are refused with 507, and downloads still work."""
    muniment.change_settings(MUNIMENT_DISK_FLOOR_BYTES=str(2**60))
    muniment.start()
    with muniment.client() as client:
        documents = f"/api/v1/knowledge-bases/{kb_id}/documents"
        total = client.get(documents).json()["total"]
        refused = client.post(documents, files={"file": ("second.txt", b"No room.")})
        assert refused.status_code == 507
        assert client.get(f"{documents}/{document_id}/download").content == b"The tenant pays."
        assert client.get(documents).json()["total"] == total
        assert client.get("/health/ready").json()["checks"]["disk"]["status"] == "failed"


def test_a_database_that_is_gone_is_not_replaced_by_an_empty_one(folder: Path, prepared_data_dir: Path) -> None:
    with RunningServer(folder, prepared_data_dir) as muniment:
        (muniment.data_dir / "postgres").rename(folder / "elsewhere")
        refused = muniment.run("serve")
        assert refused.returncode == 1
        assert "is missing" in refused.stderr
        (folder / "elsewhere").rename(muniment.data_dir / "postgres")
        muniment.start()


def test_without_a_password_the_link_signs_in_once(folder: Path) -> None:
    """In a directory that only its owner may enter."""
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with RunningServer(closed, MUNIMENT_ADMIN_EMAIL="", MUNIMENT_ADMIN_PASSWORD="") as muniment:
        muniment.start()
        link = re.search(r"/sign-in#token=(\S+)", muniment.said)
        assert link is not None
        with httpx.Client(base_url=muniment.url, trust_env=False) as client:
            assert client.get("/sign-in").status_code == 200
            assert client.post("/api/v1/auth/redeem", json={"token": link[1]}).status_code == 200
            assert client.get("/api/v1/auth/me").json()["is_operator"] is True
            assert client.post("/api/v1/auth/redeem", json={"token": link[1]}).status_code == 401
            assert client.put("/api/v1/auth/password", json={"new_password": "a new password"}).status_code == 204
            upload(client, "lease.txt", b"The tenant pays.")
        if os.geteuid() == 0:
            # The user of PostgreSQL cannot enter: the cluster is elsewhere, and the data directory says where.
            assert "/var/lib/muniment/" in (muniment.data_dir / "postgres.json").read_text()
        muniment.stop()
        muniment.start()
        assert "#token=" not in muniment.said.split("is ready")[-1]


def _has_metrics(url: str) -> bool:
    try:
        return httpx.get(f"{url}/metrics", trust_env=False).is_success
    except httpx.ConnectError:
        return False


def _is_ready(muniment: RunningServer) -> bool:
    try:
        return httpx.get(f"{muniment.url}/health/ready", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def test_the_signing_key_is_rotated_while_the_server_runs(folder: Path, prepared_data_dir: Path) -> None:
    with RunningServer(folder, prepared_data_dir) as muniment:
        muniment.start()
        with muniment.client() as client:
            old_receipt, old_keys = _purge_one(client, "old.txt"), client.get("/api/v1/audit/key").json()
            rotated = muniment.run("audit", "rotate-key", "--json")
            assert rotated.returncode == 0, rotated.stderr
            assert json.loads(rotated.stdout)["previous_key_id"] == old_keys["key_id"]
            keys = client.get("/api/v1/audit/key").json()
            assert keys["key_id"] == json.loads(rotated.stdout)["key_id"]
            new_receipt = _purge_one(client, "new.txt")
        assert new_receipt["record"]["key_id"] == keys["key_id"] != old_receipt["record"]["key_id"]
        (folder / "keys.json").write_text(json.dumps(keys))
        for receipt in (old_receipt, new_receipt):
            (folder / "receipt.json").write_text(json.dumps(receipt))
            verified = muniment.run(
                "receipt", "verify", str(folder / "receipt.json"), "--key", str(folder / "keys.json")
            )
            assert verified.returncode == 0, verified.stderr
        assert muniment.run("audit", "verify").returncode == 0


def _purge_one(client: httpx.Client, name: str) -> dict[str, Any]:
    kb_id, document_id = upload(client, name, name.encode())
    path = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    wait_until(lambda: client.get(path).json()["status"] == "completed")
    client.post(f"{path}/archive").raise_for_status()
    receipt_id = client.delete(f"{path}/purge").json()["receipt_id"]
    url = f"/api/v1/receipts/{receipt_id}"
    wait_until(lambda: client.get(url).status_code == 200)
    receipt: dict[str, Any] = client.get(url).json()
    return receipt
