"""Whether processes are gone, told by the kernel."""

import os
from collections.abc import Iterable

import psutil


def are_gone(pids: Iterable[int]) -> bool:
    """Now, and their numbers are free again: they have been waited for."""
    return not any(psutil.pid_exists(pid) for pid in pids)


def go_away(pids: Iterable[int]) -> bool:
    """Within a time that only a broken sandbox needs. What nobody waits for stays as a zombie, which is gone too."""
    processes = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, alive = psutil.wait_procs(processes, timeout=30)
    return all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def children_of_ours() -> list[int]:
    return [process.pid for process in psutil.Process(os.getpid()).children(recursive=True)]
