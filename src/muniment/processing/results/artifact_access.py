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

from muniment.artifacts.repository import ArtifactPartRepository
from muniment.artifacts.tables import ArtifactPage, TextArtifact
from muniment.artifacts.text_packs import ArtifactDamaged, pack_key, read_page_text, stream_full_text
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.errors import MunimentError
from muniment.processing.results.repository import ResultNotAvailable
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.port import ObjectNotFound, ObjectStore

log = structlog.get_logger()

MAX_CONCURRENT_READS = 8
STATUSES_WITH_RESULT = frozenset({Status.COMPLETED, Status.ARCHIVED})

ItemT = TypeVar("ItemT")
StaleT = TypeVar("StaleT")


class ArtifactContent(StrEnum):
    """What of an artifact is read."""

    PAGE = "page"
    PARAGRAPHS = "paragraphs"
    DIAGRAMS = "diagrams"
    TEXT = "text"
    SUMMARY = "summary"
    IMAGE = "image"


@dataclass(frozen=True)
class ResultList(Generic[ItemT, StaleT]):
    items: Sequence[ItemT] = ()
    total: int = 0
    stale: Sequence[StaleT] = ()
    stale_total: int = 0


@dataclass(frozen=True)
class PublishedResult:
    """A document that the caller may see, and the text that it shows."""

    document: Document
    artifact_id: UUID


def published_result(document: Document) -> PublishedResult | None:
    """`None` for one that was not read yet or could not be. While one is read again, the old result answers."""
    if document.artifact_text_id is None or document.status not in STATUSES_WITH_RESULT:
        return None
    return PublishedResult(document, document.artifact_text_id)


@dataclass(frozen=True)
class ArtifactAccess:
    """Reads on behalf of one person. The caller's rights come first: what takes a `Shown` relies on them."""

    database: Database
    blobs: ObjectStore
    principal: Principal

    async def find_published(self, work: Work[Principal], kb_id: UUID, document_id: UUID) -> PublishedResult | None:
        return published_result(await DocumentRepository(work.session).get(kb_id, document_id))

    async def get_published(self, kb_id: UUID, document_id: UUID) -> PublishedResult:
        async with self.database.work(self.principal) as work:
            document = await DocumentRepository(work.session).get(kb_id, document_id)
        shown = published_result(document)
        if shown is None and document.last_error:
            raise ResultNotAvailable(f"This document could not be processed. {document.last_error}")
        if shown is None:
            raise ResultNotAvailable
        return shown

    @asynccontextmanager
    async def open_artifact(
        self, result: PublishedResult, content: ArtifactContent, page: int | None = None
    ) -> AsyncIterator[ArtifactPartRepository]:
        """The artifact's rows, by the service login."""
        self.log_read(result.document, content, page)
        async with self.database.service_work(Service(result.document.organization_id)) as work:
            yield ArtifactPartRepository(work.session)

    def log_read(self, document: Document, content: ArtifactContent, page: int | None = None) -> None:
        user_id, document_id = str(self.principal.user_id), str(document.id)
        log.info("artifacts.read", user_id=user_id, document_id=document_id, kind=str(content), page=page)

    async def get_artifact(self, result: PublishedResult, content: ArtifactContent) -> TextArtifact:
        async with self.open_artifact(result, content) as parts:
            return require_present(await parts.find_artifact(result.artifact_id))

    async def read_page_text(self, result: PublishedResult, page: ArtifactPage) -> str:
        try:
            return await read_page_text(self.blobs, page.page_text_uri, page.page_text_sha256)
        except (ArtifactDamaged, ObjectNotFound):
            raise await self._explain_unreadable_text(result, page.page_number) from None

    async def read_page_texts(self, result: PublishedResult, pages: Collection[ArtifactPage]) -> Mapping[int, str]:
        free = asyncio.Semaphore(MAX_CONCURRENT_READS)

        async def read(page: ArtifactPage) -> str:
            async with free:
                return await self.read_page_text(result, page)

        texts = await asyncio.gather(*map(read, pages))
        return {page.page_number: text for page, text in zip(pages, texts, strict=True)}

    async def stream_text(self, result: PublishedResult) -> AsyncIterator[bytes]:
        """In pieces. Each is held back until the next has come, and the last until the whole is proven: a text that
        is damaged never comes to its end, and one of a single piece does not even begin."""
        full = await self.get_artifact(result, ArtifactContent.TEXT)
        held = b""
        try:
            async for piece in stream_full_text(self.blobs, pack_key(full.full_text_uri), full.full_text_sha256):
                if piece and held:
                    yield held
                held = piece.encode() or held
        except (ArtifactDamaged, ObjectNotFound):
            raise await self._explain_unreadable_text(result) from None
        yield held

    async def _explain_unreadable_text(self, result: PublishedResult, page: int | None = None) -> MunimentError:
        """A purge may have taken the text away while it was read; anything else is damage, and must be seen."""
        async with self.database.service_work(Service(result.document.organization_id)) as work:
            if await ArtifactPartRepository(work.session).find_artifact(result.artifact_id) is None:
                return DocumentNotFound()
        ids = {"document_id": str(result.document.id), "artifact_text_id": str(result.artifact_id)}
        log.error("artifacts.damaged", **ids, page=page)
        return ArtifactDamaged()


PartT = TypeVar("PartT")


def require_present(part: PartT | None) -> PartT:
    """What a document shows cannot be removed, so that a part which is gone tells that the document is, too."""
    if part is None:
        raise DocumentNotFound
    return part
