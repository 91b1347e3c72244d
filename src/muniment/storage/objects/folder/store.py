"""Object stores in a folder, for a single machine."""

import fcntl
import hashlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
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
    modified_at,
    translate_read_errors,
    translate_write_errors,
)
from muniment.storage.objects.port import (
    JSON_CONTENT_TYPE,
    PDF_CONTENT_TYPE,
    ObjectInfo,
    ObjectNotFound,
    ObjectStore,
    ObjectWriter,
    VersionedObject,
    VersionedObjectStore,
)

_PIECE_BYTES = 1024 * 1024


_LIST_BATCH = 500


Result = TypeVar("Result")


Arguments = TypeVarTuple("Arguments")


class FolderObjectStore(ObjectStore):
    """Each object is a file below `root`, for its owner alone; what is on its way in lies in `root/.incoming`.

    `root` is made if it is missing, but only now: when it disappears later, the store is `Unavailable`, not empty.
    The file system must know hard links. `sync` brings what is behind a descriptor to the disk.
    """

    name = "folder"

    def __init__(self, root: Path, *, sync: Sync = os.fsync, keep_empty_folders: bool = False) -> None:
        self._root = root
        try:
            self._tree = DurableTree(root, sync, keep_empty_folders=keep_empty_folders)
        except OSError as error:
            raise self._unusable_error(error) from error

    @asynccontextmanager
    async def writer(self, key: str) -> AsyncIterator[ObjectWriter]:
        parts = split_key(key)
        draft = self._tree.new_pending_file()
        writer = BufferedWriter(lambda piece: _write_in_thread(draft.write, piece))
        try:
            yield writer
            await writer.flush()
            await _write_in_thread(self._tree.replace, draft, parts)
        finally:
            await _write_in_thread(draft.discard)

    async def put(self, key: str, data: bytes) -> None:
        await self._write_small(key, data, self._tree.replace)

    async def put_if_absent(self, key: str, data: bytes) -> bool:
        return await self._write_small(key, data, self._tree.add_if_absent)

    async def get(self, key: str) -> bytes:
        return b"".join([piece async for piece in self.read(key)])

    async def size_bytes(self, key: str) -> int:
        with translate_read_errors(), self._tree.open(split_key(key)) as file:
            return os.fstat(file.fileno()).st_size

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        validate_range(start, end)
        with translate_read_errors():
            file = self._tree.open(split_key(key))
        with file:
            file.seek(start)
            left = sys.maxsize if end is None else end - start
            while piece := await _read_in_thread(file, min(left, _PIECE_BYTES)):
                yield piece
                left -= len(piece)

    async def delete(self, key: str) -> None:
        await _write_in_thread(self._tree.remove, split_key(key))

    async def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        validate_listing(prefix, after)
        with closing(self._tree.walk(prefix, after)) as walk:
            while batch := await _next_batch(walk):
                for info in batch:
                    yield info

    async def delete_stale_uploads(self, *, before: datetime) -> int:
        """Takes the file of a living writer too, if it has not written since; its block then ends with an error."""
        return await _write_in_thread(self._tree.delete_stale, before)

    async def check(self) -> None:
        try:
            await probe_object_store(self)
        except (Unavailable, StorageFull) as error:
            if isinstance(error.__cause__, OSError):
                raise self._unusable_error(error.__cause__) from error
            raise

    async def close(self) -> None:
        pass

    async def _write_small(
        self, key: str, data: bytes, publish: Callable[[PendingFile, Sequence[str]], Result]
    ) -> Result:
        parts = split_key(key)
        draft = self._tree.new_pending_file()

        def keep() -> Result:
            try:
                draft.write(data)
                return publish(draft, parts)
            finally:
                draft.discard()

        return await _write_in_thread(keep)

    def _unusable_error(self, error: OSError) -> Unavailable:
        return Unavailable(
            f"Cannot store documents in {self._root}: {error.strerror}. The folder needs free space, support for hard "
            "links, and write access for the user that runs Muniment"
        )


async def _write_in_thread(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    with translate_write_errors():
        return await run_in_thread(work, *arguments)


async def _read_in_thread(file: FileIO, size: int) -> bytes:
    with translate_read_errors():
        return await run_in_thread(file.read, size)


async def _next_batch(walk: Iterator[ObjectInfo]) -> Sequence[ObjectInfo]:
    with translate_read_errors():
        return await run_in_thread(lambda: tuple(islice(walk, _LIST_BATCH)))


_LOCK_FILE = ".lock"  # begins with a dot: no key can reach it


class VersionedFolderStore(VersionedObjectStore):
    """Each object is a file, as in `FolderObjectStore`. A version is the hash of the content.

    Whoever changes or deletes an object holds the lock of the folder, in whichever process they are; it dies with them.
    """

    name = "folder"

    def __init__(self, root: Path, *, sync: Sync = os.fsync) -> None:
        self._root = root
        # Its folders are few, one for each organization and type, and fill again as soon as they are empty.
        self._objects = FolderObjectStore(root, sync=sync, keep_empty_folders=True)
        self._tree = DurableTree(root, sync, keep_empty_folders=True)

    def writer(self, key: str, *, content_type: str = PDF_CONTENT_TYPE) -> AbstractAsyncContextManager[ObjectWriter]:
        del content_type  # a folder has none
        return self._objects.writer(key)

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str = JSON_CONTENT_TYPE) -> bool:
        del content_type
        return await self._objects.put_if_absent(key, data)

    async def put_if_match(
        self, key: str, data: bytes, *, version: str, content_type: str = JSON_CONTENT_TYPE
    ) -> str | None:
        del content_type
        return await _write_in_thread(self._compare_and_swap, split_key(key), data, version)

    async def get(self, key: str) -> VersionedObject:
        data = await self._objects.get(key)
        return VersionedObject(data, _content_version(data))

    def read(self, key: str) -> AsyncIterator[bytes]:
        return self._objects.read(key)

    async def find(self, key: str) -> ObjectInfo | None:
        parts = split_key(key)
        try:
            with translate_read_errors(), self._tree.open(parts) as file:
                found = os.fstat(file.fileno())
        except ObjectNotFound:
            return None
        return ObjectInfo(key, found.st_size, modified_at(found))

    async def exists(self, key: str) -> bool:
        return await self.find(key) is not None

    def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        return self._objects.list(prefix, after=after)

    async def delete(self, key: str) -> None:
        await _write_in_thread(self._delete_locked, split_key(key))

    async def check(self) -> None:
        await self._objects.check()
        await probe_versioned_store(self)

    async def close(self) -> None:
        await self._objects.close()

    # All in one piece of one thread: whoever waited for the lock in a thread while its holder waits for one would wait
    # for ever.
    def _compare_and_swap(self, parts: Sequence[str], data: bytes, version: str) -> str | None:
        draft = self._tree.new_pending_file()
        with self._hold_lock():
            try:
                with self._tree.open(parts) as file:
                    found = _content_version(file.readall())
            except (FileNotFoundError, NotADirectoryError):
                return None
            return self._write(draft, parts, data) if found == version else None

    def _write(self, pending: PendingFile, parts: Sequence[str], data: bytes) -> str:
        try:
            pending.write(data)
            self._tree.replace(pending, parts)
        finally:
            pending.discard()
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


def _content_version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
