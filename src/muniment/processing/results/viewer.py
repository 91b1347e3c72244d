"""Read the processing result of a document: pages, paragraphs, diagrams, the summary, and image requests."""

from dataclasses import dataclass
from uuid import UUID

from muniment.artifacts.access_log import ArtifactContent, log_artifact_read
from muniment.artifacts.tables import TextArtifact
from muniment.documents.repository import NO_PASSAGES, PassageCountRepository
from muniment.processing.results.artifact_access import (
    ArtifactAccess,
    PublishedResult,
    ResultList,
    require_present,
)
from muniment.processing.results.images import FigureImageRequest, OriginalFile, PageImageRequest
from muniment.processing.results.repository import DiagramNotFound, PageNotFound, ResultRepository
from muniment.processing.results.schemas import (
    DiagramRead,
    DocumentSummary,
    PageAnnotations,
    PageItem,
    PageRead,
    ParagraphAnnotations,
    ParagraphRead,
    summarize,
)


@dataclass(frozen=True)
class ListWindow:
    """The part of a list to return."""

    offset: int
    limit: int


class ResultViewer(ArtifactAccess):
    """Reads published results for one caller."""

    async def list_pages(
        self, kb_id: UUID, document_id: UUID, window: ListWindow
    ) -> ResultList[PageItem, PageAnnotations]:
        async with self.database.work(self.principal) as work:
            result = await self.find_published(work, kb_id, document_id)
            if result is None:
                return ResultList()
            results = ResultRepository(work.session)
            rows, total = await results.list_pages(document_id, **vars(window))
            stale, stale_total = await results.list_stale_pages(document_id, **vars(window))
        async with self.open_artifact(result, ArtifactContent.PAGE) as parts:
            pages = await parts.list_pages([row.artifact_page_id for row, _ in rows if row.artifact_page_id])
        items = [
            PageItem.from_rows(row, require_present(pages.get(row.artifact_page_id)), has_annotations=has_annotations)
            for row, has_annotations in rows
            if row.artifact_page_id
        ]
        return ResultList(items, total, [PageAnnotations.from_row(row) for row in stale], stale_total)

    async def get_page(self, kb_id: UUID, document_id: UUID, number: int) -> PageRead:
        async with self.database.work(self.principal) as work:
            result = await self.find_published(work, kb_id, document_id)
            if result is None:
                raise PageNotFound
            row = await ResultRepository(work.session).get_page(document_id, number)
        assert row.artifact_page_id is not None  # a check constraint: only a stale page has none
        async with self.open_artifact(result, ArtifactContent.PAGE, number) as parts:
            page = require_present(await parts.find_page(row.artifact_page_id))
        return PageRead.from_rows(row, page, await self.read_page_text(result, page))

    async def list_paragraphs(
        self, kb_id: UUID, document_id: UUID, page_number: int | None, window: ListWindow
    ) -> ResultList[ParagraphRead, ParagraphAnnotations]:
        async with self.database.work(self.principal) as work:
            result = await self.find_published(work, kb_id, document_id)
        if result is None:
            return ResultList()
        async with self.open_artifact(result, ArtifactContent.PARAGRAPHS, page_number) as parts:
            artifact = require_present(await parts.find_artifact(result.artifact_id))
            found, total = await parts.list_paragraphs(artifact, page_number, **vars(window))
            pages = await parts.list_pages_by_number(artifact, {paragraph.page_number for paragraph in found})
        async with self.database.work(self.principal) as work:
            results = ResultRepository(work.session)
            annotated = await results.list_paragraph_annotations(document_id, [paragraph.id for paragraph in found])
            stale, stale_total = await results.list_stale_paragraphs(document_id, **vars(window))
        texts = await self.read_page_texts(result, pages)
        annotations = {row.artifact_paragraph_id: row.annotations for row in annotated}
        items = [
            ParagraphRead.from_rows(paragraph, texts[paragraph.page_number], annotations.get(paragraph.id))
            for paragraph in found
        ]
        return ResultList(items, total, [ParagraphAnnotations.from_row(row) for row in stale], stale_total)

    async def list_diagrams(
        self, kb_id: UUID, document_id: UUID, page_number: int | None, window: ListWindow
    ) -> ResultList[DiagramRead, None]:
        async with self.database.work(self.principal) as work:
            result = await self.find_published(work, kb_id, document_id)
            if result is None:
                return ResultList()
            rows, total = await ResultRepository(work.session).list_diagrams(document_id, page_number, **vars(window))
        async with self.open_artifact(result, ArtifactContent.DIAGRAMS, page_number) as parts:
            diagrams = await parts.list_diagrams([row.artifact_diagram_id for row in rows if row.artifact_diagram_id])
        items = [
            DiagramRead.from_rows(
                row, require_present(diagrams.get(row.artifact_diagram_id)) if row.artifact_diagram_id else None
            )
            for row in rows
        ]
        return ResultList(items, total)

    async def get_summary(self, kb_id: UUID, document_id: UUID) -> DocumentSummary:
        result = await self.get_published(kb_id, document_id)
        artifact: TextArtifact = await self.get_artifact(result, ArtifactContent.SUMMARY)
        async with self.database.work(self.principal) as work:
            counts = await PassageCountRepository(work.session).list_([document_id])
        count = counts.get(document_id, NO_PASSAGES)
        return DocumentSummary.from_document(result.document, summarize(artifact), count)

    async def page_image_request(
        self, kb_id: UUID, document_id: UUID, number: int, width_px: int
    ) -> tuple[OriginalFile, PageImageRequest]:
        async with self.database.work(self.principal) as work:
            result = await self.find_published(work, kb_id, document_id)
            if result is None:
                raise PageNotFound
            await ResultRepository(work.session).get_page(document_id, number)
        log_artifact_read(self.principal, result.document.id, ArtifactContent.IMAGE, page=number)
        return _original_file(result), PageImageRequest(number, width_px)

    async def figure_image_request(
        self, kb_id: UUID, document_id: UUID, key: str
    ) -> tuple[OriginalFile, FigureImageRequest]:
        async with self.database.work(self.principal) as work:
            result = await self.find_published(work, kb_id, document_id)
            if result is None:
                raise DiagramNotFound
            row = await ResultRepository(work.session).get_diagram(document_id, key)
        assert row.artifact_diagram_id is not None  # a check constraint, as for pages
        async with self.open_artifact(result, ArtifactContent.IMAGE, row.page_number) as parts:
            diagram = require_present(
                (await parts.list_diagrams([row.artifact_diagram_id])).get(row.artifact_diagram_id)
            )
        meta = diagram.diagram_meta
        box = tuple(meta["box"]) if meta["box"] else None
        return _original_file(result), FigureImageRequest(key, row.page_number, box, meta["source"])


def _original_file(result: PublishedResult) -> OriginalFile:
    document = result.document
    return OriginalFile(
        document.id,
        document.revision,
        document.original_uri,
        document.media_type,
        document.file_size,
        document.sha256,
    )
