"""Run Tesseract once: an image goes in through a pipe, a table of words comes out through another."""

import ctypes
import fcntl
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

from PIL import Image

from muniment.processing.readers.ocr.results import OcrFailed

PAGE_CPU_SECONDS = 60
"""CPU limit of one page, which takes one to four seconds. One page must not use up the time of the document."""
PIPE_BUFFER_BYTES = 1 << 20
"""Linux allows this to every user. A larger buffer lets the program start earlier without being fed."""

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class OcrProcess:
    """A running process. Call `feed` and `drain` when the pipes are ready, and `finish` after the end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], image: Image.Image) -> None:
        self._pending_input = memoryview(b"P5 %d %d 255\n" % image.size + image.tobytes())
        self._received: list[bytes] = []
        self._process = subprocess.Popen(  # noqa: S603 - the engine that `find_engine` found
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            preexec_fn=_parent_death_hook(),
        )
        self.stdin, self.stdout = _as_pipe(self._process.stdin), _as_pipe(self._process.stdout)
        _limit_cpu(self._process.pid)
        _enlarge_pipe(self.stdin)

    def feed(self) -> bool:
        """Write what fits into the pipe. Return whether there is more to write."""
        try:
            while self._pending_input:
                self._pending_input = self._pending_input[os.write(self.stdin.fileno(), self._pending_input) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self._pending_input = memoryview(b"")  # the program ended early; its exit code tells why
        self.stdin.close()
        return False

    def drain(self) -> bool:
        """Read what is available. Return whether there may be more."""
        if piece := os.read(self.stdout.fileno(), PIPE_BUFFER_BYTES):
            self._received.append(piece)
        return bool(piece)

    def finish(self) -> bytes:
        """Return the table of words after `drain` has seen the end. Raise `OcrFailed` if the program failed."""
        self.stdin.close()
        self.stdout.close()
        code = self._process.wait()
        if code == -signal.SIGXCPU:
            raise OcrFailed("OCR timed out on this page.")
        if code != 0:
            raise OcrFailed("OCR failed on this page.")
        return b"".join(self._received)

    def kill(self) -> None:
        """Kill the process and reap it."""
        self._process.kill()
        self.stdin.close()
        self.stdout.close()
        self._process.wait()


def _as_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    return pipe


def _enlarge_pipe(pipe: IO[bytes]) -> None:
    if sys.platform == "linux":
        with suppress(OSError):  # the user's pipe limit is reached; a smaller buffer works too
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BUFFER_BYTES)


def _limit_cpu(pid: int) -> None:
    if sys.platform == "linux":
        _, hard = resource.prlimit(pid, resource.RLIMIT_CPU)
        seconds = PAGE_CPU_SECONDS if hard == resource.RLIM_INFINITY else min(PAGE_CPU_SECONDS, hard)
        resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, hard))


def _parent_death_hook() -> Callable[[], None] | None:
    """Return a hook that makes the child die with this process, to be run before it executes the program."""
    return partial(_set_parent_death_signal, os.getpid()) if _LIBC is not None and _is_single_threaded() else None


def _is_single_threaded() -> bool:
    """Whether this process has one thread, as in the sandbox. With more, no Python may run in a forked child."""
    return sum(1 for _ in Path("/proc/self/task").iterdir()) == 1


def _set_parent_death_signal(parent: int) -> None:
    assert _LIBC is not None
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # we died between the fork and this line
        os._exit(1)
