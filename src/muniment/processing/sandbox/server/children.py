"""Child processes of the fork server, each the leader of its own process group."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from muniment.processing.sandbox.child.linux import SpareUserIds
from muniment.processing.sandbox.protocol.control import JobExited

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass
class _Child:
    job: int
    pid: int
    user_id: int | None
    code: int | None = None
    """Set when the child itself is gone; others of its group may still be exiting."""
    peak_bytes: int = 0
    cpu_seconds: float = 0.0


@dataclass
class ChildProcesses:
    _children: dict[int, _Child] = field(default_factory=dict)
    _user_ids: SpareUserIds = field(default_factory=SpareUserIds)

    def fork(self, job: int, child_main: Callable[[int | None], NoReturn]) -> int:
        """Fork a child that calls `child_main` as another user. Raise `OSError` without a free process or user id."""
        user = self._user_ids.acquire()
        try:
            if (pid := os.fork()) == 0:
                child_main(user)
        except OSError:
            self._user_ids.release(user)
            raise
        # The child does the same: whichever comes first, the group exists from here on and can be killed.
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        self._children[job] = _Child(job, pid, user)
        return pid

    def kill(self, job: int) -> None:
        if child := self._children.get(job):
            _kill_group(child.pid)

    def kill_all(self) -> None:
        """Kill all children and wait until none is left."""
        for child in self._children.values():
            _kill_group(child.pid)
        for child in self._children.values():
            while not _reap_group(child, 0):
                pass
        self._children.clear()

    def reap(self) -> Iterator[JobExited]:
        """Return the jobs whose last process has ended since the last call."""
        for child in list(self._children.values()):
            if _reap_group(child, os.WNOHANG):
                del self._children[child.job]
                self._user_ids.release(child.user_id)
                yield JobExited(child.job, child.code, child.peak_bytes, child.cpu_seconds)


def _reap_group(child: _Child, options: int) -> bool:
    """Reap ended processes of the group. Return True when none is left."""
    if child.code is None:
        # Only peeked at, not reaped: while the zombie exists, its id cannot be reused for another group.
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | options) is None:
            return False
        _kill_group(child.pid)
    while True:
        try:
            pid, status, usage = os.wait4(-child.pid, options)
        except ChildProcessError:
            return True
        if pid == 0:
            return False
        child.peak_bytes = max(child.peak_bytes, usage.ru_maxrss * _RSS_UNIT)
        child.cpu_seconds = max(child.cpu_seconds, usage.ru_utime + usage.ru_stime)
        if pid == child.pid:
            child.code = os.waitstatus_to_exitcode(status)


def _kill_group(group: int) -> None:
    with contextlib.suppress(
        ProcessLookupError, PermissionError
    ):  # the group is empty; macOS raises the second for zombies
        os.killpg(group, signal.SIGKILL)
