"""Ports of the object stores: `ObjectStore` for immutable objects, `VersionedObjectStore` for the hand-over queue, whose
objects may be changed by compare-and-swap.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from muniment.errors import NotFound


class ObjectNotFound(NotFound):
    """The stored file is missing"""

    code = "BlobNotFound"


@dataclass(frozen=True)
class ObjectInfo:
    key: str
    size_bytes: int
    modified_at: datetime


class ObjectWriter(Protocol):
    """One object on its way in. Nobody sees it before the `async with` of `ObjectStore.writer` ends without an error."""

    async def write(self, chunk: bytes) -> None:
        """Append `chunk`. Memory stays constant whatever the size of the object."""


class ObjectStore(Protocol):
    """Immutable objects under slash-separated keys.

    A key has parts of 1 to 255 printable ASCII characters without the backslash, none begins with a dot, and all of it
    has at most 1,024; anything else raises `ValueError`. No key may lie below another key (`a` and `a/b`).
    What was acknowledged survives a power failure. A full disk raises `StorageFull`, a store that does not answer
    `Unavailable`: then it is not known whether the write or the delete was carried out.
    """

    name: str
    """What `doctor` calls this store: `folder` or `s3`."""

    def writer(self, key: str) -> AbstractAsyncContextManager[ObjectWriter]:
        """Stream an object in. It exists, whole and durable, once the block has ended; an existing one under this key
        is replaced in one step. If the block raises or is cancelled, no object and no temporary file is left. Only a
        cancellation during the very end of the block can come too late, and then the object is whole."""

    async def put(self, key: str, data: bytes) -> None:
        """Write a small object whole; an existing one is replaced in one step."""

    async def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write unless the key exists. Of several at once exactly one gets `True`."""

    async def get(self, key: str) -> bytes:
        """The whole of a small object, or `ObjectNotFound`."""

    async def size_bytes(self, key: str) -> int:
        """Its size, or `ObjectNotFound`."""

    def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes from `start` up to, not including, `end`, in pieces; what lies beyond the object is left out.
        `ObjectNotFound` comes before the first piece; a negative or reversed range raises `ValueError`."""

    async def delete(self, key: str) -> None:
        """Forget the object. What is not there is no error. When it returns, nobody can begin to read the object any
        more; a reader that began before gets the rest of it or an error, never a silent end."""

    def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        """All objects whose key starts with `prefix`, sorted by key, beginning behind the key `after`; memory does not
        grow with their number beyond what one folder or page holds."""

    async def delete_stale_uploads(self, *, before: datetime) -> int:
        """Remove what broken writers left before that time; how many there were."""

    async def check(self) -> None:
        """Write, read and delete a probe object, or raise `Unavailable` with a sentence an operator can act upon."""

    async def close(self) -> None:
        """Let go of connections. Nothing may be asked of the store afterwards."""


PDF_CONTENT_TYPE = "application/pdf"


JSON_CONTENT_TYPE = "application/json"


@dataclass(frozen=True)
class VersionedObject:
    """An object as it was at one moment."""

    data: bytes
    version: str
    """Names this content; whatever is written later has another one."""


class VersionedObjectStore(Protocol):
    """Objects under keys as in `ObjectStore`, with the same errors: `ValueError` for a bad key, `ObjectNotFound`,
    `StorageFull`, and `Unavailable` when the outcome is not known. What was acknowledged survives a power failure.

    The content type is kept where the store has one.
    """

    name: str
    """What `doctor` calls this store: `folder` or `s3`."""

    def writer(self, key: str, *, content_type: str = PDF_CONTENT_TYPE) -> AbstractAsyncContextManager[ObjectWriter]:
        """Stream an object in, in constant memory. It exists, whole and durable, once the block has ended; an existing
        one is replaced in one step. If the block raises, nothing is changed."""

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str = JSON_CONTENT_TYPE) -> bool:
        """Write a small object unless the key exists. Of several at once exactly one gets `True`."""

    async def put_if_match(
        self, key: str, data: bytes, *, version: str, content_type: str = JSON_CONTENT_TYPE
    ) -> str | None:
        """Write a small object in place of that version; the version written. `None`: it was changed or deleted in the
        meantime, and nothing was written. Of several at once exactly one succeeds."""

    async def get(self, key: str) -> VersionedObject:
        """A small object whole, or `ObjectNotFound`."""

    def read(self, key: str) -> AsyncIterator[bytes]:
        """A large object in pieces. `ObjectNotFound` comes before the first."""

    async def find(self, key: str) -> ObjectInfo | None:
        """Its size and when it was last written, or `None`."""

    async def exists(self, key: str) -> bool:
        """Whether it is there at this moment."""

    def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        """All objects whose key starts with `prefix`, with their sizes and times, sorted by key, beginning behind the
        key `after`; fetched in pages."""

    async def delete(self, key: str) -> None:
        """Forget the object. What is not there is no error."""

    async def check(self) -> None:
        """Write, change, read and delete a probe object, or raise `Unavailable` with a sentence for the operator."""

    async def close(self) -> None:
        """Let go of connections."""
