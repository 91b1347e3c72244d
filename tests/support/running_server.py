"""A real `muniment serve` in its own folder, as a user starts it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import psutil

from tests.support.run_folder import PID

EMAIL, PASSWORD = "admin@example.org", "correct horse battery"
TIMEOUT_SECONDS = 120
"""Ends a test that hangs; nothing is measured by it."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RunningServer:
    """One data directory that can be started, killed and started again. At the end none of its processes is running.

    With `prepared`, the data directory of a stopped installation, it starts on a copy: creating a database takes
    longer than everything else. Its first account has EMAIL and PASSWORD.
    """

    def __init__(self, folder: Path, prepared: Path | None = None, /, **environment: str) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        if prepared:
            subprocess.run(["cp", "-a", prepared, self.data_dir], check=True)
        self.port = int(environment.get("MUNIMENT_PORT") or free_port())
        self.url = f"http://127.0.0.1:{self.port}"
        self.output = folder / "output.txt"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MUNIMENT_")},
            "MUNIMENT_DATA_DIR": str(self.data_dir),
            "MUNIMENT_PORT": str(self.port),
            "MUNIMENT_ADMIN_EMAIL": EMAIL,
            "MUNIMENT_ADMIN_PASSWORD": PASSWORD,
            "MUNIMENT_WORKER_HEARTBEAT": "1",
            **environment,
        }
        self.python = sys.executable
        """Set another one to run another checkout."""
        self.process: subprocess.Popen[bytes] | None = None
        self._seen: list[psutil.Process] = []

    @property
    def command(self) -> str:
        """Path of `muniment`, for a shell."""
        return f"{self.python} -m muniment"

    def start(self) -> Self:
        """Start and wait until the output says that it is ready."""
        before = len(self.said)
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [self.python, "-m", "muniment", "serve"],
                cwd=self.folder,
                env=self._environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(lambda: "is ready" in self.said[before:] or self._has_ended())
        assert "is ready" in self.said[before:], self.said
        self._seen += self.everybody
        return self

    def change_settings(self, **environment: str) -> None:
        """Change settings for the next start."""
        self._environment |= environment

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run another command, as in a second terminal."""
        return subprocess.run(
            [self.python, "-m", "muniment", *arguments],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )

    @property
    def said(self) -> str:
        return self.output.read_text() if self.output.exists() else ""

    @property
    def everybody(self) -> list[psutil.Process]:
        """Return the supervisor and all its descendants."""
        assert self.process is not None
        supervisor = psutil.Process(self.process.pid)
        return [supervisor, *supervisor.children(recursive=True)]

    def child(self, pattern: str) -> psutil.Process:
        """Return the direct child whose command matches."""
        assert self.process is not None
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if re.search(pattern, " ".join(child.cmdline())))

    def stop(self, number: int = signal.SIGINT) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT_SECONDS)

    def kill_everybody(self) -> None:
        """Kill all processes, as in a power failure."""
        assert self.process is not None
        for process in self.everybody:
            if process.is_running():
                process.kill()
        self.process.wait(TIMEOUT_SECONDS)

    def wait_until_nobody_is_left(self) -> None:
        wait_until(lambda: not [process for process in self._seen if _is_alive(process)])

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """Yield a client that is signed in as the first account."""
        with httpx.Client(base_url=self.url, timeout=30, trust_env=False) as client:
            answer = client.post("/api/v1/auth/login", json={"email": EMAIL, "password": PASSWORD})
            assert answer.status_code == 200, answer.text
            yield client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process and self.process.poll() is None:
            self.stop(signal.SIGTERM)
        for process in self._seen:
            if _is_alive(process):
                process.kill()

    def _has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None


_STARTED: list[RunningServer] = []
"""Referenced until this process ends, which does not wait for them."""


def prepare_data_dir(folder: Path) -> dict[str, Any]:
    """Create a data directory in `folder` that `RunningServer` can copy."""
    with RunningServer(folder) as server:
        assert server.start().stop() == 0, server.said
    return {"data_dir": str(server.data_dir)}


def start_shared_server(folder: Path, prepared: Path) -> dict[str, Any]:
    """Start one server for all processes of a run. Return what they need to find it."""
    server = RunningServer(folder, prepared).start()
    _STARTED.append(server)
    assert server.process is not None
    return {"folder": str(folder), "port": str(server.port), PID: server.process.pid}


def upload(client: httpx.Client, name: str, content: bytes, kb_id: str | None = None) -> tuple[str, str]:
    """Upload into a new knowledge base, or the given one. Return (kb_id, document id)."""
    if kb_id is None:
        kb_id = client.post("/api/v1/knowledge-bases", json={"name": "Contracts"}).json()["id"]
    answer = client.post(f"/api/v1/knowledge-bases/{kb_id}/documents", files={"file": (name, content)})
    assert answer.status_code == 201, answer.text
    return str(kb_id), str(answer.json()["id"])


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
