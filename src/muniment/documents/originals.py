"""Read originals, and verify that they are what was uploaded (docs/design.md#verified-originals)."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import BinaryIO, Self
from uuid import UUID

import structlog

from muniment.documents.tables import Document
from muniment.errors import MunimentError
from muniment.storage.objects.port import ObjectNotFound, ObjectStore
from muniment.storage.objects.temporary_copy import open_temporary_copy
from muniment.telemetry.metrics import ORIGINALS_DAMAGED

log = structlog.get_logger()


class OriginalDamaged(MunimentError):
    """The stored file is damaged. Contact your operator"""


@dataclass(frozen=True)
class Original:
    """The original of a document, with the size and the hash that were computed on upload."""

    objects: ObjectStore
    document_id: UUID
    key: str
    file_size: int
    sha256: str

    @classmethod
    def of(cls, objects: ObjectStore, document: Document) -> Self:
        return cls(objects, document.id, document.original_uri, document.file_size, document.sha256)

    async def iter_chunks(self) -> AsyncIterator[bytes]:
        """Yield the whole file. Raise `OriginalDamaged`, and an alert, if it is not the one that was uploaded.

        The last chunk is yielded only after the hash was compared, so that a damaged file never arrives completely.
        """
        digest, size_bytes, last = hashlib.sha256(), 0, b""
        async for chunk in self.objects.read(self.key):
            size_bytes += len(chunk)
            if size_bytes > self.file_size:
                raise self._damaged()
            if last:
                yield last
            digest.update(chunk)
            last = chunk
        if digest.hexdigest() != self.sha256:
            raise self._damaged()
        yield last

    @asynccontextmanager
    async def open_copy(self) -> AsyncIterator[BinaryIO]:
        """Yield a verified copy in an unnamed temporary file. Raise `OriginalDamaged` before anything reads it."""
        async with open_temporary_copy(self.iter_chunks()) as file:
            yield file

    async def is_intact(self) -> bool:
        """Read the whole file and return whether it is there and the one that was uploaded."""
        try:
            async for _ in self.iter_chunks():
                pass
        except (OriginalDamaged, ObjectNotFound):
            return False
        return True

    def _damaged(self) -> OriginalDamaged:
        ORIGINALS_DAMAGED.inc()
        log.error("documents.original_damaged", document_id=str(self.document_id), key=self.key)
        return OriginalDamaged()
