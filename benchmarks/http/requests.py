"""Cost of a request compared with the bare operations it cannot do without, in the same run."""

import hashlib
import os
import tempfile
from pathlib import Path
from time import perf_counter
from uuid import uuid4

import httpx
import psycopg
from tests.support.running_server import RunningServer

from benchmarks.report import Report, in_ms, percentile, timed
from muniment.embedded.postgres_location import find_database_address
from muniment.storage.db.address import APP_LOGIN, DatabaseAddress

MEGABYTE = b"All work and no play makes a dull document. " * 23832
LARGE_BYTES = 64 * 1024 * 1024


def measure_requests(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="mun-") as folder:
        Path(folder).chmod(0o755)
        with RunningServer(Path(folder)) as muniment:
            muniment.start()
            with muniment.client() as client:
                kb_id = str(client.post("/api/v1/knowledge-bases", json={"name": "Bench"}).json()["id"])
                _measure_endpoints(report, muniment, client)
                _measure_upload(report, muniment, client, kb_id)
                _measure_large_upload(report, muniment, client, kb_id)


def _measure_endpoints(report: Report, muniment: RunningServer, client: httpx.Client) -> None:
    with psycopg.connect(app_login(muniment).conninfo, autocommit=True) as connection:
        bare = timed(lambda: connection.execute("SELECT 1").fetchone(), times=300)
    live = timed(lambda: client.get("/health/live"), times=300)
    me = timed(lambda: client.get("/api/v1/auth/me"), times=300)
    report.add("bare SELECT 1", in_ms(percentile(bare, 0.95)))
    report.add("GET /health/live, p95", in_ms(percentile(live, 0.95)))
    against = f"{percentile(me, 0.95) / percentile(live, 0.95):.1f} × an endpoint without a database"
    report.add("GET /auth/me (signed in), p95", in_ms(percentile(me, 0.95)), against)


def _measure_upload(report: Report, muniment: RunningServer, client: httpx.Client, kb_id: str) -> None:
    bare = timed(lambda: _write_durably(muniment.data_dir / "bench.tmp", [MEGABYTE]), times=60)
    upload = timed(
        lambda: client.post(
            f"/api/v1/knowledge-bases/{kb_id}/documents", files={"file": (f"{uuid4()}.txt", MEGABYTE)}
        ).raise_for_status(),
        times=60,
    )
    against = f"{percentile(upload, 0.5) / percentile(bare, 0.5):.1f} × a bare write, fsync and SHA-256"
    report.add("upload of 1 MB, p50", in_ms(percentile(upload, 0.5)), against)
    report.add("upload of 1 MB, p95", in_ms(percentile(upload, 0.95)))


def _measure_large_upload(report: Report, muniment: RunningServer, client: httpx.Client, kb_id: str) -> None:
    pieces = [MEGABYTE] * (LARGE_BYTES // len(MEGABYTE))
    bare = timed(lambda: _write_durably(muniment.data_dir / "bench.tmp", pieces), times=3)[0]
    api = muniment.child(r"muniment api$")
    before = api.memory_info().rss
    began = perf_counter()
    files = {"file": ("large.txt", b"".join(pieces))}
    client.post(f"/api/v1/knowledge-bases/{kb_id}/documents", files=files).raise_for_status()
    took = perf_counter() - began
    grown = (api.memory_info().rss - before) / 1e6
    report.add("upload of 64 MB", f"{took:.2f} s", f"{took / bare:.1f} × a bare write, fsync and SHA-256")
    report.add("memory of the API grew by", f"{grown:.0f} MB", wanted="constant")


def _write_durably(path: Path, pieces: list[bytes]) -> None:
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for piece in pieces:
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    path.unlink()


def app_login(muniment: RunningServer) -> DatabaseAddress:
    address = find_database_address(muniment.data_dir)
    assert address is not None
    return address.as_login(APP_LOGIN, (muniment.data_dir / "secrets" / "database_app_password").read_text())
