"""Sources of the bytes that are handed over: an original, a spooled upload or a dead letter.

Each source can be read more than once, and its SHA-256 is checked on every read.
"""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Protocol, Self

from muniment.documents.media_types.detection import HEAD_BYTES, TAIL_BYTES, detect_media_type
from muniment.documents.media_types.types import PDF
from muniment.errors import Invalid, TooLarge, Unsupported
from muniment.storage.objects.async_io import run_in_thread
from muniment.storage.objects.port import VersionedObjectStore

_IN_MEMORY_BYTES = 4 * 1024 * 1024
"""Larger content goes to a temporary file, so that many concurrent hand-overs do not fill the memory."""
_CHUNK_BYTES = 1024 * 1024


class PdfRequired(Unsupported):
    """Only PDFs can be sent to Paperless"""


class ChecksumMismatch(Invalid):
    """The file does not match the given SHA-256"""


class ContentSource(Protocol):
    """A source of bytes that can be read more than once. `documents.originals.Original` is one too."""

    def iter_chunks(self) -> AsyncIterator[bytes]:
        """Yield the content from its beginning."""


class SpooledUpload(ContentSource):
    """Upload of another application, spooled until the block ends.

    Its key in the queue contains its hash, which is known only when all of it has arrived.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._file = SpooledTemporaryFile[bytes](max_size=_IN_MEMORY_BYTES)
        self._hash = hashlib.sha256()
        self._head = self._tail = b""
        self.size_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    async def receive(self, chunks: AsyncIterator[bytes]) -> None:
        """Receive the upload. Raise `TooLarge` beyond the limit, and `PdfRequired` if it is not a PDF."""
        async for chunk in chunks:
            self.size_bytes += len(chunk)
            if self.size_bytes > self._max_bytes:
                raise TooLarge(f"The file exceeds the limit of {self._max_bytes} bytes")
            self._head += chunk[: HEAD_BYTES - len(self._head)]
            self._tail = (self._tail + chunk)[-TAIL_BYTES:]
            self._hash.update(chunk)
            await self._write(chunk)
        if detect_media_type(self._head, self._tail, self.size_bytes) is not PDF:
            raise PdfRequired

    def verify_sha256(self, sha256: str) -> None:
        if sha256.lower() != self.sha256:
            raise ChecksumMismatch

    async def iter_chunks(self) -> AsyncIterator[bytes]:
        self._file.seek(0)
        while chunk := await run_in_thread(self._file.read, _CHUNK_BYTES):
            yield chunk

    async def _write(self, chunk: bytes) -> None:
        if self.size_bytes <= _IN_MEMORY_BYTES:
            self._file.write(chunk)
        else:
            await run_in_thread(self._file.write, chunk)


@dataclass(frozen=True)
class DeadLetterContent(ContentSource):
    """The PDF of a dead letter."""

    store: VersionedObjectStore
    key: str

    def iter_chunks(self) -> AsyncIterator[bytes]:
        return self.store.read(self.key)


async def compute_sha256(content: ContentSource) -> str:
    """Return the SHA-256 of the content in hexadecimal."""
    digest = hashlib.sha256()
    async for chunk in content.iter_chunks():
        digest.update(chunk)
    return digest.hexdigest()
