"""Object stores in a folder, for a single machine."""

import errno
import fcntl
import hashlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import datetime
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from muniment.errors import StorageFull, Unavailable
from muniment.storage.objects.async_io import BufferedWriter, run_in_thread
from muniment.storage.objects.contract import (
    probe_object_store,
    probe_versioned_store,
    split_key,
    validate_listing,
    validate_range,
)
from muniment.storage.objects.folder.tree import (
    DurableTree,
    PendingFile,
    Sync,
    incoming_folder,
    modified_at,
    translate_read_errors,
    translate_write_errors,
)
from muniment.storage.objects.port import (
    JSON_CONTENT_TYPE,
    ObjectInfo,
    ObjectNotFound,
    ObjectStore,
    ObjectWriter,
    VersionedObject,
    VersionedObjectStore,
)

_CHUNK_BYTES = 1024 * 1024
_LIST_BATCH = 500
_LOCK_FILE = ".lock"  # begins with a dot: no key can reach it

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


class FolderObjectStore(ObjectStore):
    """Store each object as a file below `root` that only its owner can read. Pending files are in `root/.incoming`.

    `root` is created only by the constructor, unless `create` is false: if it disappears later, the store is
    `Unavailable`, not empty. The file system must support hard links. `sync` flushes a file descriptor to the disk. A
    folder has no content types.
    """

    name = "folder"

    def __init__(
        self, root: Path, *, sync: Sync = os.fsync, keep_empty_folders: bool = False, create: bool = True
    ) -> None:
        self._root = root
        try:
            self._tree = DurableTree(root, sync, keep_empty_folders=keep_empty_folders, create=create)
        except OSError as error:
            raise self._unusable_error(error) from error

    @asynccontextmanager
    async def writer(self, key: str, *, content_type: str | None = None) -> AsyncIterator[ObjectWriter]:
        del content_type
        parts = split_key(key)
        pending = self._tree.new_pending_file()
        writer = BufferedWriter(lambda chunk: _write_in_thread(pending.write, chunk))
        try:
            yield writer
            await writer.flush()
            await _write_in_thread(self._tree.replace, pending, parts)
        finally:
            await _write_in_thread(pending.discard)

    async def put(self, key: str, data: bytes) -> None:
        await self._write_small(key, data, self._tree.replace)

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str | None = None) -> bool:
        del content_type
        return await self._write_small(key, data, self._tree.add_if_absent)

    async def find(self, key: str) -> ObjectInfo | None:
        parts = split_key(key)
        try:
            with translate_read_errors(), self._tree.open(parts) as file:
                found = os.fstat(file.fileno())
        except ObjectNotFound:
            return None
        return ObjectInfo(key, found.st_size, modified_at(found))

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        validate_range(start, end)
        with translate_read_errors():
            file = self._tree.open(split_key(key))
        with file:
            file.seek(start)
            left = sys.maxsize if end is None else end - start
            while chunk := await _read_in_thread(file, min(left, _CHUNK_BYTES)):
                yield chunk
                left -= len(chunk)

    async def delete(self, key: str) -> None:
        await _write_in_thread(self._tree.remove, split_key(key))

    async def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        validate_listing(prefix, after)
        with closing(self._tree.walk(prefix, after)) as walk:
            while batch := await _next_batch(walk):
                for info in batch:
                    yield info

    async def delete_stale_uploads(self, *, before: datetime) -> int:
        """Delete pending files that were last written before that time, and return their number. This includes the file
        of a living writer; its block then ends with an error."""
        return await _write_in_thread(self._tree.delete_stale, before)

    async def check(self) -> None:
        try:
            await probe_object_store(self)
        except (Unavailable, StorageFull) as error:
            if isinstance(error.__cause__, OSError):
                raise self._unusable_error(error.__cause__) from error
            raise

    async def check_access(self) -> None:
        try:
            await run_in_thread(_require_writable, self._root)
        except OSError as error:
            raise self._unusable_error(error) from error

    async def close(self) -> None:
        pass

    async def _write_small(
        self, key: str, data: bytes, publish: Callable[[PendingFile, Sequence[str]], Result]
    ) -> Result:
        parts = split_key(key)
        return await _write_in_thread(_write_and_publish, self._tree.new_pending_file(), data, publish, parts)

    def _unusable_error(self, error: OSError) -> Unavailable:
        return Unavailable(
            f"Cannot store documents in {self._root}: {error.strerror}. The folder needs free space, support for hard "
            "links, and write access for the user that runs Muniment"
        )


class VersionedFolderStore(FolderObjectStore, VersionedObjectStore):
    """A folder store whose versions are the SHA-256 of the content.

    Changing or deleting an object takes the folder's file lock, in every process; the lock ends with its process.
    """

    def __init__(self, root: Path, *, sync: Sync = os.fsync, create: bool = True) -> None:
        # The queue has few folders, one for each organization and type, and an empty one soon fills again.
        super().__init__(root, sync=sync, keep_empty_folders=True, create=create)

    async def get_versioned(self, key: str) -> VersionedObject:
        data = await self.get(key)
        return VersionedObject(data, _content_version(data))

    async def put_if_match(
        self, key: str, data: bytes, *, version: str, content_type: str | None = JSON_CONTENT_TYPE
    ) -> str | None:
        del content_type
        return await _write_in_thread(self._compare_and_swap, split_key(key), data, version)

    async def delete(self, key: str) -> None:
        await _write_in_thread(self._delete_locked, split_key(key))

    async def check(self) -> None:
        await super().check()
        await probe_versioned_store(self)

    # In one thread from beginning to end: if the lock were taken in one thread and released in another, waiting
    # callers could occupy every thread and the holder would never get one.
    def _compare_and_swap(self, parts: Sequence[str], data: bytes, version: str) -> str | None:
        with self._hold_lock():
            try:
                with self._tree.open(parts) as file:
                    current = _content_version(file.readall())
            except (FileNotFoundError, NotADirectoryError):
                return None
            if current != version:
                return None
            _write_and_publish(self._tree.new_pending_file(), data, self._tree.replace, parts)
        return _content_version(data)

    def _delete_locked(self, parts: Sequence[str]) -> None:
        with self._hold_lock():
            self._tree.remove(parts)

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        descriptor = os.open(self._root / _LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _write_and_publish(
    pending: PendingFile,
    data: bytes,
    publish: Callable[[PendingFile, Sequence[str]], Result],
    parts: Sequence[str],
) -> Result:
    try:
        pending.write(data)
        return publish(pending, parts)
    finally:
        pending.discard()


async def _write_in_thread(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    with translate_write_errors():
        return await run_in_thread(work, *arguments)


async def _read_in_thread(file: FileIO, size: int) -> bytes:
    with translate_read_errors():
        return await run_in_thread(file.read, size)


async def _next_batch(walk: Iterator[ObjectInfo]) -> Sequence[ObjectInfo]:
    with translate_read_errors():
        return await run_in_thread(lambda: tuple(islice(walk, _LIST_BATCH)))


def _require_writable(root: Path) -> None:
    """Raise `OSError` if no file can be created below `root`. Nothing is written."""
    if os.statvfs(root).f_flag & os.ST_RDONLY:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    for folder in (root, incoming_folder(root)):
        if not folder.is_dir():
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def _content_version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
