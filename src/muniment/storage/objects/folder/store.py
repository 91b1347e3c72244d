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
from muniment.storage.objects.async_io import GatheringWriter, in_thread
from muniment.storage.objects.contract import (
    check_listing,
    check_range,
    parts_of,
    probe_object_store,
    probe_versioned_store,
)
from muniment.storage.objects.folder.tree import Draft, FolderTree, Sync, modified_at, reading, storing
from muniment.storage.objects.port import JSON, PDF, BlobInfo, BlobNotFound, Blobs, BlobWriter, Held, QueueStore

_PIECE_BYTES = 1024 * 1024


_LIST_BATCH = 500


Result = TypeVar("Result")


Arguments = TypeVarTuple("Arguments")


class FolderBlobs(Blobs):
    """Each object is a file below `root`, for its owner alone; what is on its way in lies in `root/.incoming`.

    `root` is made if it is missing, but only now: when it disappears later, the store is `Unavailable`, not empty.
    The file system must know hard links. `sync` brings what is behind a descriptor to the disk.
    """

    name = "folder"

    def __init__(self, root: Path, *, sync: Sync = os.fsync, keeps_folders: bool = False) -> None:
        self._root = root
        try:
            self._tree = FolderTree(root, sync, keeps_folders=keeps_folders)
        except OSError as error:
            raise self._unusable(error) from error

    @asynccontextmanager
    async def writer(self, key: str) -> AsyncIterator[BlobWriter]:
        parts = parts_of(key)
        draft = self._tree.draft()
        writer = GatheringWriter(lambda piece: _store(draft.write, piece))
        try:
            yield writer
            await writer.flush()
            await _store(self._tree.replace, draft, parts)
        finally:
            await _store(draft.discard)

    async def put(self, key: str, data: bytes) -> None:
        await self._keep(key, data, self._tree.replace)

    async def put_if_absent(self, key: str, data: bytes) -> bool:
        return await self._keep(key, data, self._tree.add)

    async def get(self, key: str) -> bytes:
        return b"".join([piece async for piece in self.read(key)])

    async def size_bytes(self, key: str) -> int:
        with reading(), self._tree.open(parts_of(key)) as file:
            return os.fstat(file.fileno()).st_size

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        check_range(start, end)
        with reading():
            file = self._tree.open(parts_of(key))
        with file:
            file.seek(start)
            left = sys.maxsize if end is None else end - start
            while piece := await _read(file, min(left, _PIECE_BYTES)):
                yield piece
                left -= len(piece)

    async def delete(self, key: str) -> None:
        await _store(self._tree.remove, parts_of(key))

    async def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[BlobInfo]:
        check_listing(prefix, after)
        with closing(self._tree.walk(prefix, after)) as walk:
            while batch := await _take(walk):
                for info in batch:
                    yield info

    async def remove_abandoned(self, *, before: datetime) -> int:
        """Takes the file of a living writer too, if it has not written since; its block then ends with an error."""
        return await _store(self._tree.sweep, before)

    async def check(self) -> None:
        try:
            await probe_object_store(self)
        except (Unavailable, StorageFull) as error:
            if isinstance(error.__cause__, OSError):
                raise self._unusable(error.__cause__) from error
            raise

    async def close(self) -> None:
        pass

    async def _keep(self, key: str, data: bytes, place: Callable[[Draft, Sequence[str]], Result]) -> Result:
        parts = parts_of(key)
        draft = self._tree.draft()

        def keep() -> Result:
            try:
                draft.write(data)
                return place(draft, parts)
            finally:
                draft.discard()

        return await _store(keep)

    def _unusable(self, error: OSError) -> Unavailable:
        return Unavailable(
            f"Cannot store documents in {self._root}: {error.strerror}. The folder needs free space, support for hard "
            "links, and write access for the user that runs Muniment"
        )


async def _store(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    with storing():
        return await in_thread(work, *arguments)


async def _read(file: FileIO, size: int) -> bytes:
    with reading():
        return await in_thread(file.read, size)


async def _take(walk: Iterator[BlobInfo]) -> Sequence[BlobInfo]:
    with reading():
        return await in_thread(lambda: tuple(islice(walk, _LIST_BATCH)))


_LOCK = ".lock"  # begins with a dot: no key can reach it


class FolderQueue(QueueStore):
    """Each object is a file, as in `FolderBlobs`. A version is the hash of the content.

    Whoever changes or deletes an object holds the lock of the folder, in whichever process they are; it dies with them.
    """

    name = "folder"

    def __init__(self, root: Path, *, sync: Sync = os.fsync) -> None:
        self._root = root
        # Its folders are few, one for each organization and type, and fill again as soon as they are empty.
        self._blobs = FolderBlobs(root, sync=sync, keeps_folders=True)
        self._tree = FolderTree(root, sync, keeps_folders=True)

    def writer(self, key: str, *, content_type: str = PDF) -> AbstractAsyncContextManager[BlobWriter]:
        del content_type  # a folder has none
        return self._blobs.writer(key)

    async def put_new(self, key: str, data: bytes, *, content_type: str = JSON) -> bool:
        del content_type
        return await self._blobs.put_if_absent(key, data)

    async def put_if(self, key: str, data: bytes, *, version: str, content_type: str = JSON) -> str | None:
        del content_type
        return await _store(self._replace, parts_of(key), data, version)

    async def get(self, key: str) -> Held:
        data = await self._blobs.get(key)
        return Held(data, _version(data))

    def read(self, key: str) -> AsyncIterator[bytes]:
        return self._blobs.read(key)

    async def find(self, key: str) -> BlobInfo | None:
        parts = parts_of(key)
        try:
            with reading(), self._tree.open(parts) as file:
                found = os.fstat(file.fileno())
        except BlobNotFound:
            return None
        return BlobInfo(key, found.st_size, modified_at(found))

    async def exists(self, key: str) -> bool:
        return await self.find(key) is not None

    def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[BlobInfo]:
        return self._blobs.list(prefix, after=after)

    async def delete(self, key: str) -> None:
        await _store(self._remove, parts_of(key))

    async def check(self) -> None:
        await self._blobs.check()
        await probe_versioned_store(self)

    async def close(self) -> None:
        await self._blobs.close()

    # All in one piece of one thread: whoever waited for the lock in a thread while its holder waits for one would wait
    # for ever.
    def _replace(self, parts: Sequence[str], data: bytes, version: str) -> str | None:
        draft = self._tree.draft()
        with self._locked():
            try:
                with self._tree.open(parts) as file:
                    found = _version(file.readall())
            except (FileNotFoundError, NotADirectoryError):
                return None
            return self._place(draft, parts, data) if found == version else None

    def _place(self, draft: Draft, parts: Sequence[str], data: bytes) -> str:
        try:
            draft.write(data)
            self._tree.replace(draft, parts)
        finally:
            draft.discard()
        return _version(data)

    def _remove(self, parts: Sequence[str]) -> None:
        with self._locked():
            self._tree.remove(parts)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        descriptor = os.open(self._root / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
