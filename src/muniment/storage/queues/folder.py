"""A queue as files of one folder, for everything on one machine."""

import fcntl
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from muniment.storage.blobs.descent import modified_at
from muniment.storage.blobs.draft import Draft, Sync
from muniment.storage.blobs.folder import FolderBlobs
from muniment.storage.blobs.folder_errors import reading, storing
from muniment.storage.blobs.folder_tree import FolderTree
from muniment.storage.blobs.keys import parts_of
from muniment.storage.blobs.port import BlobInfo, BlobNotFound, BlobWriter
from muniment.storage.blobs.uninterrupted import in_thread
from muniment.storage.queues.port import JSON, PDF, Held, QueueStore
from muniment.storage.queues.probe import probe_versioned_store

_LOCK = ".lock"  # begins with a dot: no key can reach it

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


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


async def _store(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    with storing():
        return await in_thread(work, *arguments)


def _version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
