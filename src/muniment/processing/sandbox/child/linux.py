"""Linux system calls that Python does not expose, and spare user ids for children.

On other systems each call raises `OSError`.
"""

import ctypes
import grp
import os
import pwd
import sys

PR_SET_PDEATHSIG = 1


PR_SET_DUMPABLE = 4


PR_SET_SECCOMP = 22


PR_SET_CHILD_SUBREAPER = 36


PR_SET_NO_NEW_PRIVS = 38


CLONE_NEWNET = 0x40000000


# Loaded before any fork, because a child may not be able to open a library.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def prctl(option: int, value: int, *rest: object) -> None:
    """Set a property of this process, or raise `OSError`."""
    _call("prctl", option, ctypes.c_ulong(value), *rest, *[ctypes.c_ulong(0)] * (3 - len(rest)))


def unshare(flags: int) -> None:
    """Move to new, empty namespaces of the kinds in `flags`, or raise `OSError`."""
    _call("unshare", flags)


def system_call(number: int, *arguments: object) -> int:
    """Make a system call by number, if the C library has no function for it."""
    return _call("syscall", ctypes.c_long(number), *arguments)


def _call(name: str, *arguments: object) -> int:
    if _libc is None:
        raise OSError(0, f"{name} is not available on {sys.platform}")
    result = int(getattr(_libc, name)(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


_SPARE_RANGE = range(60578, 61000)
"""Not assigned by Linux distributions: regular users have lower ids, systemd's dynamic users higher ones."""


class SpareUserIds:
    """Hands out ids that no user or group of this machine has. Each server starts elsewhere in the range."""

    def __init__(self) -> None:
        known = {number for entry in pwd.getpwall() for number in (entry.pw_uid, entry.pw_gid)}
        known |= {entry.gr_gid for entry in grp.getgrall()}
        free = [number for number in _SPARE_RANGE if number not in known]
        start = os.getpid() % len(free) if free else 0
        self._free = free[start:] + free[:start]

    def acquire(self) -> int | None:
        """Return a free id, or `None` if we are not root. Raise `BlockingIOError` if all are in use."""
        if os.geteuid() != 0:
            return None
        if not self._free:
            raise BlockingIOError("Every user id is in use")
        return self._free.pop(0)

    def release(self, user_id: int | None) -> None:
        if user_id is not None:
            self._free.append(user_id)  # at the end, so that it is reused as late as possible


def switch_user(user_id: int) -> None:
    """Change this process to the user permanently, or raise `OSError`."""
    os.setgroups([])
    os.setresgid(user_id, user_id, user_id)
    os.setresuid(user_id, user_id, user_id)
