"""Read the artifact that a document shows, on behalf of a user.

Always in this order: check access by row level security as the caller, load the artifact's rows as the service login, read
the text from its pack without an open transaction. Every such read is logged.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar
from uuid import UUID

import structlog

from muniment.artifacts.repository import PartRepository
from muniment.artifacts.tables import ArtifactPage, FullText
from muniment.artifacts.text_packs import ArtifactDamaged, key_of, read_full, read_page
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.errors import MunimentError
from muniment.processing.results.repository import NotReadYet
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.port import BlobNotFound, Blobs

log = structlog.get_logger()

READS_AT_ONCE = 8
SHOWING = frozenset({Status.COMPLETED, Status.ARCHIVED})

ItemT = TypeVar("ItemT")
StaleT = TypeVar("StaleT")


class Kind(StrEnum):
    """What of an artifact is read."""

    PAGE = "page"
    PARAGRAPHS = "paragraphs"
    DIAGRAMS = "diagrams"
    TEXT = "text"
    SUMMARY = "summary"
    IMAGE = "image"


@dataclass(frozen=True)
class Found(Generic[ItemT, StaleT]):
    items: Sequence[ItemT] = ()
    total: int = 0
    stale: Sequence[StaleT] = ()
    stale_total: int = 0


@dataclass(frozen=True)
class Shown:
    """A document that the caller may see, and the text that it shows."""

    document: Document
    text_id: UUID


def shown_by(document: Document) -> Shown | None:
    """`None` for one that was not read yet or could not be. While one is read again, the old result answers."""
    if document.artifact_text_id is None or document.status not in SHOWING:
        return None
    return Shown(document, document.artifact_text_id)


@dataclass(frozen=True)
class ArtifactReader:
    """Reads on behalf of one person. The caller's rights come first: what takes a `Shown` relies on them."""

    database: Database
    blobs: Blobs
    principal: Principal

    async def find_shown(self, work: Work[Principal], kb_id: UUID, document_id: UUID) -> Shown | None:
        return shown_by(await DocumentRepository(work.session).get(kb_id, document_id))

    async def get_shown(self, kb_id: UUID, document_id: UUID) -> Shown:
        async with self.database.work(self.principal) as work:
            document = await DocumentRepository(work.session).get(kb_id, document_id)
        shown = shown_by(document)
        if shown is None and document.last_error:
            raise NotReadYet(f"This document could not be processed. {document.last_error}")
        if shown is None:
            raise NotReadYet
        return shown

    @asynccontextmanager
    async def parts(self, shown: Shown, kind: Kind, page: int | None = None) -> AsyncIterator[PartRepository]:
        """The artifact's rows, by the service login."""
        self.note(shown.document, kind, page)
        async with self.database.service_work(Service(shown.document.organization_id)) as work:
            yield PartRepository(work.session)

    def note(self, document: Document, kind: Kind, page: int | None = None) -> None:
        user_id, document_id = str(self.principal.user_id), str(document.id)
        log.info("artifacts.read", user_id=user_id, document_id=document_id, kind=str(kind), page=page)

    async def get_text(self, shown: Shown, kind: Kind) -> FullText:
        async with self.parts(shown, kind) as parts:
            return present(await parts.find_text(shown.text_id))

    async def page_text(self, shown: Shown, page: ArtifactPage) -> str:
        try:
            return await read_page(self.blobs, page.page_text_uri, page.page_text_sha256)
        except (ArtifactDamaged, BlobNotFound):
            raise await self._judged(shown, page.page_number) from None

    async def page_texts(self, shown: Shown, pages: Collection[ArtifactPage]) -> Mapping[int, str]:
        free = asyncio.Semaphore(READS_AT_ONCE)

        async def read(page: ArtifactPage) -> str:
            async with free:
                return await self.page_text(shown, page)

        texts = await asyncio.gather(*map(read, pages))
        return {page.page_number: text for page, text in zip(pages, texts, strict=True)}

    async def full_text(self, shown: Shown) -> AsyncIterator[bytes]:
        """In pieces. Each is held back until the next has come, and the last until the whole is proven: a text that
        is damaged never comes to its end, and one of a single piece does not even begin."""
        full = await self.get_text(shown, Kind.TEXT)
        held = b""
        try:
            async for piece in read_full(self.blobs, key_of(full.full_text_uri), full.full_text_sha256):
                if piece and held:
                    yield held
                held = piece.encode() or held
        except (ArtifactDamaged, BlobNotFound):
            raise await self._judged(shown) from None
        yield held

    async def _judged(self, shown: Shown, page: int | None = None) -> MunimentError:
        """A purge may have taken the text away while it was read; anything else is damage, and must be seen."""
        async with self.database.service_work(Service(shown.document.organization_id)) as work:
            if await PartRepository(work.session).find_text(shown.text_id) is None:
                return DocumentNotFound()
        ids = {"document_id": str(shown.document.id), "artifact_text_id": str(shown.text_id)}
        log.error("artifacts.damaged", **ids, page=page)
        return ArtifactDamaged()


PartT = TypeVar("PartT")


def present(part: PartT | None) -> PartT:
    """What a document shows cannot be removed, so that a part which is gone tells that the document is, too."""
    if part is None:
        raise DocumentNotFound
    return part
