"""Where jobs wait for the archiver. Unlike `Blobs`, an object may be changed, by whoever knows its last version."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from muniment.storage.blobs.port import BlobInfo, BlobWriter

PDF = "application/pdf"
JSON = "application/json"


@dataclass(frozen=True)
class Held:
    """An object as it was at one moment."""

    data: bytes
    version: str
    """Names this content; whatever is written later has another one."""


class QueueStore(Protocol):
    """Objects under keys as in `Blobs`, with the same errors: `ValueError` for a bad key, `BlobNotFound`,
    `StorageFull`, and `Unavailable` when the outcome is not known. What was acknowledged survives a power failure.

    The content type is kept where the store has one.
    """

    name: str
    """What `doctor` calls this store: `folder` or `s3`."""

    def writer(self, key: str, *, content_type: str = PDF) -> AbstractAsyncContextManager[BlobWriter]:
        """Stream an object in, in constant memory. It exists, whole and durable, once the block has ended; an existing
        one is replaced in one step. If the block raises, nothing is changed."""

    async def put_new(self, key: str, data: bytes, *, content_type: str = JSON) -> bool:
        """Write a small object unless the key exists. Of several at once exactly one gets `True`."""

    async def put_if(self, key: str, data: bytes, *, version: str, content_type: str = JSON) -> str | None:
        """Write a small object in place of that version; the version written. `None`: it was changed or deleted in the
        meantime, and nothing was written. Of several at once exactly one succeeds."""

    async def get(self, key: str) -> Held:
        """A small object whole, or `BlobNotFound`."""

    def read(self, key: str) -> AsyncIterator[bytes]:
        """A large object in pieces. `BlobNotFound` comes before the first."""

    async def find(self, key: str) -> BlobInfo | None:
        """Its size and when it was last written, or `None`."""

    async def exists(self, key: str) -> bool:
        """Whether it is there at this moment."""

    def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[BlobInfo]:
        """All objects whose key starts with `prefix`, with their sizes and times, sorted by key, beginning behind the
        key `after`; fetched in pages."""

    async def delete(self, key: str) -> None:
        """Forget the object. What is not there is no error."""

    async def check(self) -> None:
        """Write, change, read and delete a probe object, or raise `Unavailable` with a sentence for the operator."""

    async def close(self) -> None:
        """Let go of connections."""
