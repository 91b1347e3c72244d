"""The few calls of Linux that Python has no name for. On other systems each of them says that it is not available."""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

CLONE_NEWNET = 0x40000000

# Loaded before any fork: a child may not be able to open a library any more.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def prctl(option: int, value: int, *rest: object) -> None:
    """Set a property of this process, or raise `OSError`."""
    _call("prctl", option, ctypes.c_ulong(value), *rest, *[ctypes.c_ulong(0)] * (3 - len(rest)))


def unshare(flags: int) -> None:
    """Leave the namespaces in `flags` for new, empty ones, or raise `OSError`."""
    _call("unshare", flags)


def system_call(number: int, *arguments: object) -> int:
    """Call the kernel by number, where the C library has no function."""
    return _call("syscall", ctypes.c_long(number), *arguments)


def _call(name: str, *arguments: object) -> int:
    if _libc is None:
        raise OSError(0, f"{name} is not available on {sys.platform}")
    result = int(getattr(_libc, name)(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
