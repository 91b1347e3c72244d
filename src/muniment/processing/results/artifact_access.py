"""Read the artifact that a document shows, on behalf of a user.

Always in this order: check access by row level security as the caller, load the artifact's rows as the service login,
read the text from its pack without an open transaction. Every such read is logged.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar
from uuid import UUID

import structlog

from muniment.artifacts.access_log import ArtifactContent, log_artifact_read
from muniment.artifacts.repository import ArtifactPartRepository
from muniment.artifacts.tables import ArtifactPage, TextArtifact
from muniment.artifacts.text_packs import ArtifactDamaged, pack_key, read_concurrently, read_page_text, stream_full_text
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.errors import MunimentError
from muniment.processing.results.repository import ResultNotAvailable
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.port import ObjectNotFound, ObjectStore

log = structlog.get_logger()

STATUSES_WITH_RESULT = frozenset({Status.COMPLETED, Status.ARCHIVED})

ItemT = TypeVar("ItemT")
StaleT = TypeVar("StaleT")


@dataclass(frozen=True)
class ResultList(Generic[ItemT, StaleT]):
    items: Sequence[ItemT] = ()
    total: int = 0
    stale: Sequence[StaleT] = ()
    stale_total: int = 0


@dataclass(frozen=True)
class PublishedResult:
    """A document that the caller may see, and the artifact that it shows."""

    document: Document
    artifact_id: UUID


def published_result(document: Document) -> PublishedResult | None:
    """Return what the document shows, or `None` before its first result. During a reread the old result answers."""
    if document.artifact_text_id is None or document.status not in STATUSES_WITH_RESULT:
        return None
    return PublishedResult(document, document.artifact_text_id)


@dataclass(frozen=True)
class ArtifactAccess:
    """Reads artifacts on behalf of one user. A `PublishedResult` proves that the user's access was checked."""

    database: Database
    objects: ObjectStore
    principal: Principal

    async def find_published(self, work: Work[Principal], kb_id: UUID, document_id: UUID) -> PublishedResult | None:
        return published_result(await DocumentRepository(work.session).get(kb_id, document_id))

    async def get_published(self, kb_id: UUID, document_id: UUID) -> PublishedResult:
        async with self.database.work(self.principal) as work:
            document = await DocumentRepository(work.session).get(kb_id, document_id)
        result = published_result(document)
        if result is None and document.last_error:
            raise ResultNotAvailable(f"This document could not be processed. {document.last_error}")
        if result is None:
            raise ResultNotAvailable
        return result

    @asynccontextmanager
    async def open_artifact(
        self, result: PublishedResult, content: ArtifactContent, page: int | None = None
    ) -> AsyncIterator[ArtifactPartRepository]:
        """Open the artifact's rows with the service login, and log the access."""
        log_artifact_read(self.principal, result.document.id, content, page=page)
        async with self.database.service_work(Service(result.document.organization_id)) as work:
            yield ArtifactPartRepository(work.session)

    async def get_artifact(self, result: PublishedResult, content: ArtifactContent) -> TextArtifact:
        async with self.open_artifact(result, content) as parts:
            return require_present(await parts.find_artifact(result.artifact_id))

    async def read_page_text(self, result: PublishedResult, page: ArtifactPage) -> str:
        try:
            return await read_page_text(self.objects, page.page_text_uri, page.page_text_sha256)
        except (ArtifactDamaged, ObjectNotFound):
            raise await self._explain_unreadable_text(result, page.page_number) from None

    async def read_page_texts(self, result: PublishedResult, pages: Collection[ArtifactPage]) -> Mapping[int, str]:
        """Read the texts of these pages, by page number."""
        texts = await read_concurrently(partial(self.read_page_text, result), pages)
        return {page.page_number: text for page, text in zip(pages, texts, strict=True)}

    async def stream_text(self, result: PublishedResult) -> AsyncIterator[bytes]:
        """Stream the full text. The last piece is sent only after the checksum matched, so a damaged text never ends
        normally.
        """
        artifact = await self.get_artifact(result, ArtifactContent.TEXT)
        previous = b""
        try:
            async for piece in stream_full_text(
                self.objects, pack_key(artifact.full_text_uri), artifact.full_text_sha256
            ):
                if piece and previous:
                    yield previous
                previous = piece.encode() or previous
        except (ArtifactDamaged, ObjectNotFound):
            raise await self._explain_unreadable_text(result) from None
        yield previous

    async def _explain_unreadable_text(self, result: PublishedResult, page: int | None = None) -> MunimentError:
        """Return why a text cannot be read: a purge deleted the document, or the text is damaged."""
        async with self.database.service_work(Service(result.document.organization_id)) as work:
            if await ArtifactPartRepository(work.session).find_artifact(result.artifact_id) is None:
                return DocumentNotFound()
        ids = {"document_id": str(result.document.id), "artifact_text_id": str(result.artifact_id)}
        log.error("artifacts.damaged", **ids, page=page)
        return ArtifactDamaged()


PartT = TypeVar("PartT")


def require_present(part: PartT | None) -> PartT:
    """Return the part, or raise `DocumentNotFound`: parts that a document shows are deleted only with the document."""
    if part is None:
        raise DocumentNotFound
    return part
