"""A real S3 server on the loopback interface, shared by a test run."""

import json
import random
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from obstore.exceptions import BaseError
from obstore.store import S3Store

from muniment.storage.objects.s3.connection import S3Address
from tests.support.run_folder import IS_KILLED, LEFTOVERS, PID

_PORTS = (
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "s3.port",
    "s3.port.grpc",
    "admin.port",
    "admin.port.grpc",
)


@dataclass(frozen=True)
class SeaweedFS:
    endpoint: str
    filer: str
    bucket: str = "documents"
    region: str = "us-east-1"
    access_key_id: str = "tester"
    secret_access_key: str = "tester-secret"

    @property
    def address(self) -> S3Address:
        return S3Address(self.bucket, self.endpoint, self.region, self.access_key_id, self.secret_access_key)

    def open_uploads(self) -> list[str]:
        """Return multipart uploads that were neither completed nor aborted."""
        return self._entries(f"/buckets/{self.bucket}/.uploads/")

    def make_bucket(self) -> None:
        """Create the bucket as a folder, without the S3 API, if it does not exist."""
        try:
            self._ask("POST", f"/buckets/{self.bucket}/")
        except HTTPError as error:
            if error.code != 409:
                raise

    def empty(self) -> None:
        """Delete every object without the S3 API."""
        for path in self._entries(f"/buckets/{self.bucket}/"):
            self._ask("DELETE", f"{path}?recursive=true")

    def _entries(self, folder: str) -> list[str]:
        try:
            answer = json.loads(self._ask("GET", f"{folder}?limit=10000"))
        except HTTPError as error:
            if error.code == 404:
                return []
            raise
        return [entry["FullPath"] for entry in answer["Entries"] or []]

    def _ask(self, method: str, path: str) -> bytes:
        with urlopen(Request(self.filer + path, method=method, headers={"Accept": "application/json"})) as response:
            return bytes(response.read())


_STARTED: list[subprocess.Popen[bytes]] = []
"""Referenced until this process ends, which does not wait for them."""


def start_seaweedfs(folder: Path) -> dict[str, Any]:
    """Start the server with its data in `folder`. Return what the processes of the run need to find it."""
    ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
    server = SeaweedFS(f"http://127.0.0.1:{ports['s3.port']}", f"http://127.0.0.1:{ports['filer.port']}")
    with (folder / "weed.log").open("wb") as log:
        process = subprocess.Popen(
            [
                Path(sys.executable).with_name("weed"),
                "-logtostderr",
                "mini",
                f"-dir={folder}",
                f"-bucket={server.bucket}",
                "-ip=127.0.0.1",
                "-ip.bind=127.0.0.1",
                *(f"-{name}={port}" for name, port in ports.items()),
                "-s3.port.iceberg=0",
                "-s3.port.lance=0",
                "-s3.autoCreateBucket=false",
                "-webdav=false",
                "-admin.ui=false",
                "-master.telemetry=false",
            ],
            cwd=folder,
            env={
                "HOME": str(folder),
                "AWS_ACCESS_KEY_ID": server.access_key_id,
                "AWS_SECRET_ACCESS_KEY": server.secret_access_key,
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _STARTED.append(process)
    _wait_for(server, process, folder / "weed.log")
    return {
        "server": {"endpoint": server.endpoint, "filer": server.filer},
        PID: process.pid,
        IS_KILLED: True,  # a graceful stop takes up to half a minute
        LEFTOVERS: [f"seaweedfs-*-{port}.sock" for port in ports.values()],
    }


def _wait_for(server: SeaweedFS, process: subprocess.Popen[bytes], log: Path) -> None:
    store = S3Store(
        server.bucket,
        endpoint=server.endpoint,
        region=server.region,
        access_key_id=server.access_key_id,
        secret_access_key=server.secret_access_key,
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(BaseError):
            store.list().collect()
            return
        time.sleep(0.05)
    raise RuntimeError(f"SeaweedFS does not start:\n{log.read_text()[-2000:]}")


def _free_ports(count: int) -> list[int]:
    """Return ports below the ephemeral range, which the server's own connections could use."""
    free: list[int] = []
    while len(free) < count:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as candidate, suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            if port not in free:
                free.append(port)
    return free
