"""Data directory: its exclusive lock, and folders in it that must not come back empty."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from muniment.embedded.errors import AlreadyRunning, DataDirectoryNotWritable
from muniment.errors import Unavailable


class DataDirectoryLock:
    """Exclusive lock, held until the `with` block ends or the process dies.

    The descriptor is closed on exec, so that no child process keeps the lock of a supervisor that was killed.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "muniment.lock"
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock, or raise `AlreadyRunning` with the process that has it."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise DataDirectoryNotWritable(
                f"The data directory {self._path.parent} is not writable: {error.strerror}"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode().strip() or "unknown"
            os.close(descriptor)
            raise AlreadyRunning(
                f"Muniment is already running in {self._path.parent} (process {holder}). Stop it first"
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        # The file stays: deleting it would let two processes lock two files of the same name.
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class MarkedFolder:
    """A folder in the data directory that is created once, with a mark beside it and one inside.

    If a disk is not mounted, the empty mount point has no inner mark.
    """

    def __init__(self, data_dir: Path, name: str) -> None:
        self.root = data_dir / name
        self._outer, self._inner = data_dir / f"{name}.made", self.root / ".made"

    def require_present(self, error: Unavailable) -> None:
        if self._outer.exists() and not self._inner.exists():
            raise error

    def mark(self) -> None:
        """Create the marks that are missing; nothing is written if both exist."""
        for mark in (self._inner, self._outer):
            if not mark.exists():
                mark.touch(mode=0o600)
