"""Check with the kernel whether processes have ended."""

import os
from collections.abc import Iterable
from contextlib import suppress

import psutil


def are_gone(pids: Iterable[int]) -> bool:
    """Return whether they have ended and have been waited for, so that their ids are free."""
    return not any(psutil.pid_exists(pid) for pid in pids)


def go_away(pids: Iterable[int]) -> bool:
    """Wait until they have ended. The time limit is reached only by a broken sandbox. Zombies count as ended."""
    processes = []
    for pid in pids:
        with suppress(psutil.NoSuchProcess):  # it may end at any moment
            processes.append(psutil.Process(pid))
    _, alive = psutil.wait_procs(processes, timeout=30)
    return all(_has_ended(process) for process in alive)


def _has_ended(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def children_of_ours() -> list[int]:
    return [process.pid for process in psutil.Process(os.getpid()).children(recursive=True)]
