"""Privileges a child gives up before it opens a document. The order matters: each step removes what a later one would need.

Each protection is tried on its own and reported: an old kernel or a container may refuse one while the others hold. Resource
limits are mandatory: without them nothing is read.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from muniment.processing.sandbox.child import landlock, linux, seccomp
from muniment.processing.sandbox.protocol.control import Limits

STATM = Path("/proc/self/statm")


OOM_SCORE = "/proc/self/oom_score_adj"


@dataclass(frozen=True)
class Surroundings:
    """What the server knows and a child needs to confine itself."""

    server: int
    """Its process id."""
    has_own_network: bool
    """The server has left the network for an empty one, and its children with it."""
    mapped_bytes: int
    """Python and the readers' libraries: not what a document costs."""

    @classmethod
    def look(cls, *, has_own_network: bool) -> Self:
        return cls(os.getpid(), has_own_network, _mapped_bytes())


def confine(around: Surroundings, *, user: int | None, limits: Limits, rules: int | None) -> dict[str, bool]:
    """Give everything up; `rules` are Landlock's. Returns which protections hold, for `Sandbox.describe`."""
    holds = {"network": around.has_own_network, "oom_first": _holds(_be_first_when_memory_ends)}
    _limit(limits, mapped_bytes=around.mapped_bytes, counts_processes=user is not None)
    holds["user"] = user is not None and _holds(lambda: linux.become(user))
    os.umask(0o077)
    # Becoming another user forgets the next two, so they come after it.
    holds["dies_with_server"] = _holds(lambda: linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL))
    holds["not_traceable"] = _holds(lambda: linux.prctl(linux.PR_SET_DUMPABLE, 0))
    if os.getppid() != around.server:
        raise ProcessLookupError("The server ended before it could take us with it")
    holds["no_new_privileges"] = _holds(lambda: linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1))
    holds["files"] = _holds(lambda: landlock.restrict(rules))
    holds["system_calls"] = _holds(seccomp.restrict)
    return holds


def _limit(limits: Limits, *, mapped_bytes: int, counts_processes: bool) -> None:
    _set(resource.RLIMIT_AS, limits.memory_bytes + mapped_bytes)
    _set(resource.RLIMIT_CPU, limits.cpu_seconds)
    _set(resource.RLIMIT_FSIZE, 0)
    _set(resource.RLIMIT_NOFILE, limits.open_files)
    _set(resource.RLIMIT_CORE, 0)  # a core file would hold the document
    if counts_processes:  # it counts all processes of a user: as ourselves, we would stand in our own way
        _set(resource.RLIMIT_NPROC, limits.processes)


def _set(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    # One second between the signal that says why and the one that cannot be ignored.
    last = most + 1 if kind == resource.RLIMIT_CPU and most < hard % (1 << 62) else most
    if sys.platform == "darwin" and kind == resource.RLIMIT_AS:
        return  # refused there
    resource.setrlimit(kind, (most, last))


def _mapped_bytes() -> int:
    try:
        return int(STATM.read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 30


def _be_first_when_memory_ends() -> None:
    descriptor = os.open(OOM_SCORE, os.O_WRONLY)
    os.write(descriptor, b"1000")
    os.close(descriptor)


def _holds(step: Callable[[], object]) -> bool:
    try:
        step()
    except OSError:
        return False
    return True
