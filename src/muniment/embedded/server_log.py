"""What PostgreSQL says, in a file of bounded size."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

LIMIT_BYTES = 10 * 1024 * 1024
TAIL_BYTES = 8 * 1024
TAIL_LINES = 15


class ServerLog:
    """`postgres.log`, and the piece before it in `postgres.log.1`."""

    def __init__(self, path: Path, *, limit_bytes: int = LIMIT_BYTES) -> None:
        self._path = path
        self._limit_bytes = limit_bytes
        self._begin = 0

    def open(self) -> int:
        """A descriptor to append to. `tail` speaks of what is written from here on."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._begin = os.fstat(descriptor).st_size
        return descriptor

    def tail(self) -> list[str]:
        """The last lines since `open`."""
        with self._path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            begin = self._begin if self._begin <= size else 0  # cut since then
            file.seek(max(begin, size - TAIL_BYTES))
            return file.read().decode(errors="replace").splitlines()[-TAIL_LINES:]

    def cut_if_large(self) -> None:
        """Begin anew when the file has grown too large.

        The server keeps its descriptor, so the file is copied and emptied, not renamed; what it writes between the two
        is lost, a price for having no log process.
        """
        if self._path.exists() and self._path.stat().st_size > self._limit_bytes:
            with suppress(OSError):  # a full disk is no reason to keep the log growing
                shutil.copy(self._path, self._path.with_name(f"{self._path.name}.1"))  # with its mode: for us alone
            os.truncate(self._path, 0)
