"""What the end of a child means, and how we say it to people."""

import signal

from muniment.errors import Unavailable
from muniment.processing.readers.contract import Code, Unreadable
from muniment.processing.sandbox.confinement import Limits
from muniment.processing.sandbox.control import Ended

TOO_MUCH_MEMORY = "Reading this file needs more memory than is allowed. Split it or save it in a simpler form."
TOO_MUCH_TIME = "Reading this file takes longer than is allowed. Split it or save it in a simpler form."
CRASHED = "The reader crashed on this file. It may be damaged: open it in its program, save it anew and upload that."
NOT_UNDERSTOOD = "The reader gave back what cannot be right for this file. Save it anew and upload that."

_DEATHS_FOR_WANT_OF_MEMORY = {
    -number for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGTRAP, signal.SIGILL)
}
_NEAR_THE_LIMIT = 0.7


class NoReader(Unavailable):
    """The reader of documents does not run; try again shortly"""


class ReaderKilled(Unavailable):
    """The reader was killed, by somebody or for want of memory on this machine; it is tried again"""


def judge(ended: Ended, limits: Limits) -> Unreadable | Unavailable:
    """Why a child ended that had not finished and that nobody of us had killed."""
    if ended.code is None:
        return NoReader()
    is_spent = ended.code == -signal.SIGKILL and ended.cpu_seconds >= limits.cpu_seconds
    if ended.code == -signal.SIGXCPU or is_spent:
        return timed_out()
    is_full = ended.peak_bytes >= limits.memory_bytes * _NEAR_THE_LIMIT
    if is_full and ended.code in {-signal.SIGKILL, *_DEATHS_FOR_WANT_OF_MEMORY}:
        return too_large()
    # A SIGKILL that is not ours is somebody's, or the kernel's when the machine runs out of memory: children are its
    # first choice, whoever took the memory. The file need not be at fault.
    return ReaderKilled() if ended.code == -signal.SIGKILL else crashed()


def too_large() -> Unreadable:
    return Unreadable(Code.READER_MEMORY, TOO_MUCH_MEMORY)


def crashed() -> Unreadable:
    return Unreadable(Code.CORRUPT, CRASHED)


def timed_out() -> Unreadable:
    return Unreadable(Code.READER_TIMEOUT, TOO_MUCH_TIME)


def violated() -> Unreadable:
    return Unreadable(Code.CORRUPT, NOT_UNDERSTOOD)
