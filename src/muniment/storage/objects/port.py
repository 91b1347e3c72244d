"""Ports of the object stores: `ObjectStore` for all objects, `VersionedObjectStore` for the hand-over queue, whose
objects are changed by compare-and-swap.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from muniment.errors import NotFound

PDF_CONTENT_TYPE = "application/pdf"
JSON_CONTENT_TYPE = "application/json"


class ObjectNotFound(NotFound):
    """The stored file is missing"""

    code = "BlobNotFound"


@dataclass(frozen=True)
class ObjectInfo:
    """Key, size and time of the last write of one object."""

    key: str
    size_bytes: int
    modified_at: datetime


class ObjectWriter(Protocol):
    """One object being written. It stays invisible until the block of `ObjectStore.writer` ends without an error."""

    async def write(self, chunk: bytes) -> None:
        """Append `chunk`. Memory stays constant whatever the size of the object."""


class ObjectStore(Protocol):
    """Objects under slash-separated keys.

    A key consists of parts of 1 to 255 printable ASCII characters without the backslash. No part begins with a dot, and
    the whole key has at most 1,024 characters; anything else raises `ValueError`. No key may lie below another key (`a`
    and `a/b`).
    Acknowledged writes survive a power failure. A full disk raises `StorageFull`. A store that is not responding raises
    `Unavailable`: then the outcome of the write or delete is unknown.
    """

    name: str
    """Name of this kind of store in `doctor`: `folder` or `s3`."""

    def writer(self, key: str, *, content_type: str | None = None) -> AbstractAsyncContextManager[ObjectWriter]:
        """Stream an object into the store. It exists, complete and durable, once the block has ended, and replaces an
        existing object in one step. If the block raises or is cancelled, no object and no temporary file remains. Only
        a cancellation at the very end of the block can come too late, and then the object is complete. The content type
        is stored if the store supports it."""

    async def put(self, key: str, data: bytes) -> None:
        """Write a small object. An existing one is replaced in one step."""

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str | None = None) -> bool:
        """Write a small object unless the key exists. Exactly one of several concurrent calls returns `True`. The
        content type is stored if the store supports it."""

    async def get(self, key: str) -> bytes:
        """Return all bytes of a small object, or raise `ObjectNotFound`."""
        return b"".join([chunk async for chunk in self.read(key)])

    async def find(self, key: str) -> ObjectInfo | None:
        """Return size and modification time of the object, or `None` if it does not exist."""

    async def exists(self, key: str) -> bool:
        """Return whether the object exists."""
        return await self.find(key) is not None

    async def size_bytes(self, key: str) -> int:
        """Return the size of the object, or raise `ObjectNotFound`."""
        info = await self.find(key)
        if info is None:
            raise ObjectNotFound
        return info.size_bytes

    def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to, not including, `end`, in chunks; a range beyond the end of the object is
        cut off. `ObjectNotFound` is raised before the first chunk; a negative or reversed range raises `ValueError`."""

    async def delete(self, key: str) -> None:
        """Delete the object. A missing object is not an error. Afterwards no new read can begin; a reader that began
        before gets the remaining bytes or an error, never a silent end."""

    def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        """Yield all objects whose key starts with `prefix`, sorted by key, starting after the key `after`. Memory is
        limited to the contents of one folder or one page."""

    async def delete_stale_uploads(self, *, before: datetime) -> int:
        """Delete the temporary files of writers that have not written since `before`, such as those of killed
        processes. Return their number."""

    async def check(self) -> None:
        """Write, read and delete a probe object, or raise `Unavailable` with advice for the operator."""

    async def check_access(self) -> None:
        """Find out without writing whether objects can be stored, or raise `Unavailable` with advice."""

    async def close(self) -> None:
        """Close all connections. The store cannot be used afterwards."""


@dataclass(frozen=True)
class VersionedObject:
    """Content of an object and the version that identifies this content."""

    data: bytes
    version: str
    """Differs from the version of any other content written under this key."""


class VersionedObjectStore(ObjectStore, Protocol):
    """An object store whose small objects can be changed by compare-and-swap.

    `put` and `writer` replace unconditionally: use them only for keys that nobody changes with `put_if_match`.
    """

    async def get_versioned(self, key: str) -> VersionedObject:
        """Return a small object with its version, or raise `ObjectNotFound`."""

    async def put_if_match(
        self, key: str, data: bytes, *, version: str, content_type: str | None = JSON_CONTENT_TYPE
    ) -> str | None:
        """Replace this version of a small object and return the new version. Return `None`, and write nothing, if the
        object was changed or deleted in the meantime. Exactly one of several concurrent calls succeeds."""
