"""Bytes on their way into a folder store."""

import errno
import os
from collections.abc import Callable
from io import FileIO
from pathlib import Path

Sync = Callable[[int], None]


class Draft:
    """A file that has no key yet. All of it blocks: call it from a thread."""

    def __init__(self, path: Path, sync: Sync) -> None:
        self.path = path
        self._sync = sync
        self._file: FileIO | None = None
        self._is_whole = True

    def write(self, data: bytes | bytearray) -> None:
        file = self._open()
        self._is_whole = False
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        self._is_whole = True

    def seal(self) -> None:
        """Bring the bytes to the disk; from here on there are no more."""
        file = self._open()
        self._sync(file.fileno())
        file.close()

    def discard(self) -> None:
        """Leave nothing behind but what got a key."""
        if self._file is not None:
            self._file.close()
            self.path.unlink(missing_ok=True)

    def _open(self) -> FileIO:
        if not self._is_whole:
            raise OSError(errno.EIO, "An earlier write has failed")
        # Only now, so that there is never a file before somebody is bound to discard it.
        if self._file is None:
            self._file = FileIO(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        return self._file
