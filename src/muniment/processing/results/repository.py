"""Every query of what a document shows. Row level security shows only what the caller may see."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import NotFound
from muniment.processing.results.tables import DocumentDiagram, DocumentPage, DocumentParagraph, DocumentPart

RowT = TypeVar("RowT", bound=DocumentPart)


class PageNotFound(NotFound):
    """Page not found"""


class ParagraphNotFound(NotFound):
    """Paragraph not found"""


class DiagramNotFound(NotFound):
    """Diagram not found"""


class ResultNotAvailable(NotFound):
    """This document has not been processed yet"""

    code = "NotReadYet"


class ResultRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_pages(
        self, document_id: UUID, *, offset: int, limit: int
    ) -> tuple[Sequence[tuple[DocumentPage, bool]], int]:
        """Each with whether anything is written on it, on its paragraphs or on its diagrams."""
        there = (DocumentPage.document_id == document_id, DocumentPage.stale_at.is_(None))
        total = await self._session.scalar(select(func.count()).select_from(DocumentPage).where(*there))
        wanted = select(DocumentPage, _has_annotations()).where(*there).order_by(DocumentPage.page_number)
        found = await self._session.execute(wanted.offset(offset).limit(limit))
        return [(row, is_written_upon) for row, is_written_upon in found], total or 0

    async def get_page(self, document_id: UUID, number: int) -> DocumentPage:
        there = select(DocumentPage).where(DocumentPage.document_id == document_id, DocumentPage.stale_at.is_(None))
        found = await self._session.scalar(there.where(DocumentPage.page_number == number))
        if found is None:
            raise PageNotFound
        return found

    async def list_stale_pages(
        self, document_id: UUID, *, offset: int, limit: int
    ) -> tuple[Sequence[DocumentPage], int]:
        """Those that are gone, with what people wrote on them."""
        is_written_upon = or_(DocumentPage.annotations.is_not(None), DocumentPage.flags.is_not(None))
        gone = select(DocumentPage).where(
            DocumentPage.document_id == document_id, DocumentPage.stale_at.is_not(None), is_written_upon
        )
        return await self._list_window(gone.order_by(DocumentPage.page_number), offset, limit)

    async def list_paragraph_annotations(
        self, document_id: UUID, artifact_ids: Collection[UUID]
    ) -> Sequence[DocumentParagraph]:
        """What is written on these paragraphs: most have no row."""
        mine = select(DocumentParagraph).where(DocumentParagraph.document_id == document_id)
        wanted = mine.where(DocumentParagraph.artifact_paragraph_id.in_(artifact_ids))
        return (await self._session.scalars(wanted)).all()

    async def list_stale_paragraphs(
        self, document_id: UUID, *, offset: int, limit: int
    ) -> tuple[Sequence[DocumentParagraph], int]:
        gone = select(DocumentParagraph).where(
            DocumentParagraph.document_id == document_id, DocumentParagraph.stale_at.is_not(None)
        )
        ordered = gone.order_by(DocumentParagraph.page_number, DocumentParagraph.paragraph_index.desc())
        return await self._list_window(ordered, offset, limit)

    async def list_diagrams(
        self, document_id: UUID, page_number: int | None, *, offset: int, limit: int
    ) -> tuple[Sequence[DocumentDiagram], int]:
        """The stale ones too, as long as something is written on them."""
        has_a_reason = or_(DocumentDiagram.stale_at.is_(None), DocumentDiagram.annotations.is_not(None))
        wanted = select(DocumentDiagram).where(DocumentDiagram.document_id == document_id, has_a_reason)
        if page_number is not None:
            wanted = wanted.where(DocumentDiagram.page_number == page_number)
        ordered = wanted.order_by(DocumentDiagram.page_number, DocumentDiagram.diagram_key)
        return await self._list_window(ordered, offset, limit)

    async def get_diagram(self, document_id: UUID, key: str) -> DocumentDiagram:
        there = select(DocumentDiagram).where(
            DocumentDiagram.document_id == document_id, DocumentDiagram.stale_at.is_(None)
        )
        found = await self._session.scalar(there.where(DocumentDiagram.diagram_key == key))
        if found is None:
            raise DiagramNotFound
        return found

    async def _list_window(self, wanted: Select[RowT], offset: int, limit: int) -> tuple[Sequence[RowT], int]:
        total = await self._session.scalar(select(func.count()).select_from(wanted.order_by(None).subquery()))
        return (await self._session.scalars(wanted.offset(offset).limit(limit))).all(), total or 0


def _has_annotations() -> ColumnElement[bool]:
    def on_its(part: type[Any]) -> ColumnElement[bool]:
        same_page = and_(part.document_id == DocumentPage.document_id, part.page_number == DocumentPage.page_number)
        return exists().where(same_page, part.annotations.is_not(None), part.stale_at.is_(None))

    return or_(DocumentPage.annotations.is_not(None), on_its(DocumentParagraph), on_its(DocumentDiagram))
