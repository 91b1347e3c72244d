"""Check with the kernel whether processes have ended."""

import os
from collections.abc import Iterable

import psutil


def are_gone(pids: Iterable[int]) -> bool:
    """Return whether they have ended and have been waited for, so that their ids are free."""
    return not any(psutil.pid_exists(pid) for pid in pids)


def go_away(pids: Iterable[int]) -> bool:
    """Wait until they have ended. The time limit is reached only by a broken sandbox. Zombies count as ended."""
    processes = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, alive = psutil.wait_procs(processes, timeout=30)
    return all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def children_of_ours() -> list[int]:
    return [process.pid for process in psutil.Process(os.getpid()).children(recursive=True)]
