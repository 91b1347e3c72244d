"""Landlock: restrict the files that this process and its children can open. It needs no privilege, only Linux 5.13."""

import ctypes
import errno
import functools
import os
import stat
import sys
from collections.abc import Iterable

from muniment.processing.sandbox.child import linux

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_QUERY_ABI_VERSION = 1
_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY = 1, 2, 4, 8
_ALL_OF_VERSION_1 = (1 << 13) - 1
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_TCP = 3
_SIGNALS_AND_ABSTRACT_SOCKETS = 3

# What programs and libraries need on any Linux: fonts, the loader's cache, the time zone.
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/fonts", "/etc/localtime", "/etc/mime.types")
_SYSTEM_STORES = ("/nix/store", "/gnu/store")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("beneath", ctypes.c_int32))


def _abi_version() -> int:
    """Return the Landlock version of the kernel, or 0 without Landlock."""
    try:
        return linux.system_call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_QUERY_ABI_VERSION))
    except OSError:
        return 0


_ABI_VERSION = _abi_version()


@functools.cache  # the server opens them once for all children
def open_allowed_paths(readable: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return descriptors of the system, of Python and of `readable`, with the access allowed beneath each."""
    rights = _READ_FILE | _READ_DIRECTORY | _EXECUTE
    paths = dict.fromkeys((*_SYSTEM, *_SYSTEM_STORES, *_python_paths(), *readable), rights)
    paths |= dict.fromkeys(_DEVICES, _READ_FILE | _WRITE_FILE)
    return [opened for name, allowed in paths.items() if (opened := _open_path(name, allowed))]


def build_ruleset(allowed_paths: Iterable[tuple[int, int]]) -> int | None:
    """Return a descriptor of the ruleset: only those paths, and our own entries in /proc."""
    if _ABI_VERSION == 0:
        return None
    files = _ALL_OF_VERSION_1 | (_REFER if _ABI_VERSION >= 2 else 0) | (_TRUNCATE if _ABI_VERSION >= 3 else 0)
    ruleset = _Ruleset(
        files, _TCP if _ABI_VERSION >= 4 else 0, _SIGNALS_AND_ABSTRACT_SOCKETS if _ABI_VERSION >= 6 else 0
    )
    size = 24 if _ABI_VERSION >= 6 else 16 if _ABI_VERSION >= 4 else 8
    rules = linux.system_call(_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    own_entries = _open_path("/proc/self", _READ_FILE | _READ_DIRECTORY)
    for descriptor, allowed in (*allowed_paths, *([own_entries] if own_entries else [])):
        rule = _Rule(allowed, descriptor)
        linux.system_call(_ADD_RULE, rules, _BENEATH, ctypes.byref(rule), 0)
    return rules


def restrict(ruleset: int | None) -> None:
    """Apply the ruleset permanently, or raise `OSError`. It requires `no_new_privs`."""
    if ruleset is None:
        raise OSError(errno.ENOSYS, "The kernel has no Landlock")
    linux.system_call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))


def _python_paths() -> Iterable[str]:
    # The folder of muniment may also contain settings; what is on the module path or below the prefix is code.
    return {path for path in (sys.prefix, sys.base_prefix, *sys.path) if path not in ("", "/")}


def _open_path(name: str, allowed: int) -> tuple[int, int] | None:
    try:
        descriptor = os.open(name, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # missing on this machine
        return None
    return descriptor, allowed if stat.S_ISDIR(os.fstat(descriptor).st_mode) else allowed & ~_READ_DIRECTORY
