"""What users see of a result: pages, paragraphs, diagrams, the summary, and what is needed to render an image."""

from dataclasses import dataclass
from uuid import UUID

from muniment.artifacts.tables import FullText
from muniment.processing.results.artifact_access import ArtifactReader, Found, Kind, Shown, present
from muniment.processing.results.images import FigureView, Original, PageView
from muniment.processing.results.repository import DiagramNotFound, PageNotFound, ResultRepository
from muniment.processing.results.schemas import (
    DiagramRead,
    DocumentSummary,
    PageItem,
    PageNotes,
    PageRead,
    ParagraphNotes,
    ParagraphRead,
    summarise,
)


@dataclass(frozen=True)
class Slice:
    offset: int
    limit: int


class Viewer(ArtifactReader):
    async def list_pages(self, kb_id: UUID, document_id: UUID, wanted: Slice) -> Found[PageItem, PageNotes]:
        async with self.database.work(self.principal) as work:
            shown = await self.find_shown(work, kb_id, document_id)
            if shown is None:
                return Found()
            results = ResultRepository(work.session)
            rows, total = await results.list_pages(document_id, **vars(wanted))
            stale, stale_total = await results.list_stale_pages(document_id, **vars(wanted))
        async with self.parts(shown, Kind.PAGE) as parts:
            pages = await parts.list_pages([row.artifact_page_id for row, _ in rows if row.artifact_page_id])
        items = [
            PageItem.of_pair(row, present(pages.get(row.artifact_page_id)), has_annotations=is_written_upon)
            for row, is_written_upon in rows
            if row.artifact_page_id
        ]
        return Found(items, total, [PageNotes.of(row) for row in stale], stale_total)

    async def get_page(self, kb_id: UUID, document_id: UUID, number: int) -> PageRead:
        async with self.database.work(self.principal) as work:
            shown = await self.find_shown(work, kb_id, document_id)
            if shown is None:
                raise PageNotFound
            row = await ResultRepository(work.session).get_page(document_id, number)
        assert row.artifact_page_id is not None  # the table's check: only a stale one has none
        async with self.parts(shown, Kind.PAGE, number) as parts:
            page = present(await parts.find_page(row.artifact_page_id))
        return PageRead.of_pair(row, page, await self.page_text(shown, page))

    async def list_paragraphs(
        self, kb_id: UUID, document_id: UUID, page_number: int | None, wanted: Slice
    ) -> Found[ParagraphRead, ParagraphNotes]:
        async with self.database.work(self.principal) as work:
            shown = await self.find_shown(work, kb_id, document_id)
        if shown is None:
            return Found()
        async with self.parts(shown, Kind.PARAGRAPHS, page_number) as parts:
            full = present(await parts.find_text(shown.text_id))
            found, total = await parts.list_paragraphs(full, page_number, **vars(wanted))
            pages = await parts.list_pages_of(full, {paragraph.page_number for paragraph in found})
        async with self.database.work(self.principal) as work:
            results = ResultRepository(work.session)
            notes = await results.list_notes(document_id, [paragraph.id for paragraph in found])
            stale, stale_total = await results.list_stale_paragraphs(document_id, **vars(wanted))
        texts = await self.page_texts(shown, pages)
        written = {note.artifact_paragraph_id: note.annotations for note in notes}
        items = [
            ParagraphRead.of_pair(paragraph, texts[paragraph.page_number], written.get(paragraph.id))
            for paragraph in found
        ]
        return Found(items, total, [ParagraphNotes.of(row) for row in stale], stale_total)

    async def list_diagrams(
        self, kb_id: UUID, document_id: UUID, page_number: int | None, wanted: Slice
    ) -> Found[DiagramRead, None]:
        async with self.database.work(self.principal) as work:
            shown = await self.find_shown(work, kb_id, document_id)
            if shown is None:
                return Found()
            rows, total = await ResultRepository(work.session).list_diagrams(document_id, page_number, **vars(wanted))
        async with self.parts(shown, Kind.DIAGRAMS, page_number) as parts:
            diagrams = await parts.list_diagrams([row.artifact_diagram_id for row in rows if row.artifact_diagram_id])
        items = [
            DiagramRead.of_pair(
                row, present(diagrams.get(row.artifact_diagram_id)) if row.artifact_diagram_id else None
            )
            for row in rows
        ]
        return Found(items, total)

    async def summary(self, kb_id: UUID, document_id: UUID) -> DocumentSummary:
        shown = await self.get_shown(kb_id, document_id)
        full: FullText = await self.get_text(shown, Kind.SUMMARY)
        return DocumentSummary.of(shown.document, summarise(full))

    async def page_view(self, kb_id: UUID, document_id: UUID, number: int, width_px: int) -> tuple[Original, PageView]:
        async with self.database.work(self.principal) as work:
            shown = await self.find_shown(work, kb_id, document_id)
            if shown is None:
                raise PageNotFound
            await ResultRepository(work.session).get_page(document_id, number)
        self.note(shown.document, Kind.IMAGE, number)
        return _original(shown), PageView(number, width_px)

    async def figure_view(self, kb_id: UUID, document_id: UUID, key: str) -> tuple[Original, FigureView]:
        async with self.database.work(self.principal) as work:
            shown = await self.find_shown(work, kb_id, document_id)
            if shown is None:
                raise DiagramNotFound
            row = await ResultRepository(work.session).get_diagram(document_id, key)
        assert row.artifact_diagram_id is not None  # as with pages
        async with self.parts(shown, Kind.IMAGE, row.page_number) as parts:
            diagram = present((await parts.list_diagrams([row.artifact_diagram_id])).get(row.artifact_diagram_id))
        meta = diagram.diagram_meta
        box = tuple(meta["box"]) if meta["box"] else None
        return _original(shown), FigureView(key, row.page_number, box, meta["source"])


def _original(shown: Shown) -> Original:
    document = shown.document
    return Original(document.id, document.revision, document.original_uri, document.media_type)
