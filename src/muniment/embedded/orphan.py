"""A PostgreSQL of this cluster that its supervisor left behind. It outlives a supervisor that was killed."""

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from muniment.embedded.errors import PostgresFailed

STOP_SECONDS = 60.0
LEFTOVER_SECONDS = 10.0


def stop_orphan(cluster: Path) -> None:
    """Make sure that no server runs on `cluster`. The caller holds the lock of the data directory: nobody needs it."""
    pid_file = cluster / "postmaster.pid"
    pid = _pid_in(pid_file)
    if pid is None or not psutil.pid_exists(pid):
        return  # PostgreSQL checks the pid file of a dead one itself, with the shared memory that is named in it
    if process := _server(pid, cluster):
        _stop(process, cluster)
        return
    # The number belongs to another process now, or to a zombie, and PostgreSQL would take it for a running server.
    if not _comes_true(lambda: not any(_server(pid, cluster) for pid in psutil.pids()), LEFTOVER_SECONDS):
        raise PostgresFailed(f"Processes of an older PostgreSQL still use {cluster}; stop them first")
    pid_file.unlink(missing_ok=True)


def _pid_in(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text().splitlines()[0])
    except (FileNotFoundError, IndexError, ValueError):
        return None


def _server(pid: int, cluster: Path) -> psutil.Process | None:
    """The process `pid` if it is a living PostgreSQL of `cluster`, which is the folder that all of them work in."""
    try:
        process = psutil.Process(pid)
        if process.name() == "postgres" and cluster.samefile(process.cwd()):
            return process
    except (psutil.Error, OSError):
        pass  # gone, a zombie, or somebody else's
    return None


def _stop(process: psutil.Process, cluster: Path) -> None:
    for number, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, LEFTOVER_SECONDS)):
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)
        # Not `process.wait`: in a container whose first process does not reap, it would wait for a zombie.
        if _comes_true(lambda: _server(process.pid, cluster) is None, seconds):
            return
    raise PostgresFailed(f"An older PostgreSQL of this data directory (process {process.pid}) does not stop")


def _comes_true(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
