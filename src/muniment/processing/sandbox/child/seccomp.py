"""Seccomp filter that forbids system calls to this process and its children. It needs no privilege."""

import ctypes
import errno
import platform
import struct
import sys

from muniment.processing.sandbox.child import linux

_FILTER_MODE = 2
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERRNO = 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_X32 = 0x40000000  # the same calls with other numbers, on x86-64
_NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW* flag

# Numbers on x86-64 and aarch64, and the error that is returned.
_REFUSED = {
    "socket": (41, 198),
    "connect": (42, 203),
    "socketpair": (53, 199),  # a datagram socket of a pair can be connected to any other
    "io_uring_setup": (425, 425),  # would bypass this filter
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    # Memory that outlives the process.
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}
# No process may leave the group that is killed as a whole. They succeed without effect, because programs call them
# without need.
_WITHOUT_EFFECT = {"setsid": (112, 157), "setpgid": (109, 154)}
# Its flags are in memory, which a filter cannot read. The C library falls back to `clone` on ENOSYS.
_UNKNOWN = {"clone3": (435, 435)}
_CLONE = (56, 220)

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _build(machine: str) -> bytes | None:
    if sys.platform != "linux" or sys.maxsize < 2**32 or machine not in _MACHINES:
        return None
    column, architecture = _MACHINES[machine]
    program = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    program += [(_LOAD, 0, 0, _NUMBER_AT), (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    for calls, answer in ((_REFUSED, errno.EPERM), (_WITHOUT_EFFECT, 0), (_UNKNOWN, errno.ENOSYS)):
        for numbers in calls.values():
            program += [(_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, _ERRNO | answer)]
    program += [(_EQUAL, 0, 3, _CLONE[column]), (_LOAD, 0, 0, _FIRST_ARGUMENT_AT)]
    program += [(_ANY_BIT, 0, 1, _NEW_NAMESPACES), (_RETURN, 0, 0, _ERRNO | errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


_INSTRUCTIONS = _build(platform.machine())


def restrict() -> None:
    """Apply the filter permanently, or raise `OSError`. It requires `no_new_privs`."""
    if _INSTRUCTIONS is None:
        raise OSError(errno.ENOSYS, f"There is no filter for {platform.machine()}")
    program = _Program(len(_INSTRUCTIONS) // 8, _INSTRUCTIONS)
    linux.prctl(linux.PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program))
