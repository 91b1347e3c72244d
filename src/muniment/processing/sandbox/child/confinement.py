"""Give up privileges before a document is opened.

The order matters, because a step may remove what another one needs. Each protection is tried on its own and reported,
because an old kernel or a container may refuse one while the others work. Resource limits are mandatory: without them
no file is opened.
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
from muniment.processing.sandbox.protocol.control import JobLimits

STATM = Path("/proc/self/statm")


OOM_SCORE = "/proc/self/oom_score_adj"


@dataclass(frozen=True)
class ServerInfo:
    """What the server knows and a child needs to confine itself."""

    pid: int
    """Process id of the server."""
    has_own_network: bool
    """Whether the server has moved to an empty network namespace, which its children inherit."""
    mapped_bytes: int
    """Memory mapped by Python and the readers' libraries, which a document does not cause."""

    @classmethod
    def capture(cls, *, has_own_network: bool) -> Self:
        return cls(os.getpid(), has_own_network, _mapped_bytes())


def confine(server_info: ServerInfo, *, user_id: int | None, limits: JobLimits, ruleset: int | None) -> dict[str, bool]:
    """Give up all privileges; `ruleset` is Landlock's. Return which protections are active, for `Sandbox.probe`."""
    active = {"network": server_info.has_own_network, "oom_first": _try(_prefer_for_oom_kill)}
    _set_limits(limits, mapped_bytes=server_info.mapped_bytes, counts_processes=user_id is not None)
    active["user"] = user_id is not None and _try(lambda: linux.switch_user(user_id))
    os.umask(0o077)
    # After the change of user, which resets the next two.
    active["dies_with_server"] = _try(lambda: linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL))
    active["not_traceable"] = _try(lambda: linux.prctl(linux.PR_SET_DUMPABLE, 0))
    if os.getppid() != server_info.pid:
        raise ProcessLookupError("The server ended before it could take us with it")
    active["no_new_privileges"] = _try(lambda: linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1))
    active["files"] = _try(lambda: landlock.restrict(ruleset))
    active["system_calls"] = _try(seccomp.restrict)
    return active


def _set_limits(limits: JobLimits, *, mapped_bytes: int, counts_processes: bool) -> None:
    _set_limit(resource.RLIMIT_AS, limits.memory_bytes + mapped_bytes)
    _set_limit(resource.RLIMIT_CPU, limits.cpu_seconds)
    _set_limit(resource.RLIMIT_FSIZE, 0)
    _set_limit(resource.RLIMIT_NOFILE, limits.open_files)
    _set_limit(resource.RLIMIT_CORE, 0)  # a core file would contain the document
    if counts_processes:  # the limit counts all processes of a user: as ourselves, our own processes would use it up
        _set_limit(resource.RLIMIT_NPROC, limits.processes)


def _set_limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # One second between the signal that tells the reason and the one that cannot be ignored.
    last = most + 1 if kind == resource.RLIMIT_CPU and most < hard % (1 << 62) else most
    if sys.platform == "darwin" and kind == resource.RLIMIT_AS:
        return  # not permitted here
    resource.setrlimit(kind, (most, last))


def _mapped_bytes() -> int:
    try:
        return int(STATM.read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 30


def _prefer_for_oom_kill() -> None:
    descriptor = os.open(OOM_SCORE, os.O_WRONLY)
    os.write(descriptor, b"1000")
    os.close(descriptor)


def _try(step: Callable[[], object]) -> bool:
    try:
        step()
    except OSError:
        return False
    return True
