"""Queries of the pages, paragraphs and diagrams of a document. Row level security hides what the caller may not see."""

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
    """Reads the rows that link a document to the parts of its artifact, and their annotations."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_pages(
        self, document_id: UUID, *, offset: int, limit: int
    ) -> tuple[Sequence[tuple[DocumentPage, bool]], int]:
        """Return pages, each with whether it or a part of it is annotated, and the number of all pages."""
        current = (DocumentPage.document_id == document_id, DocumentPage.stale_at.is_(None))
        total = await self._session.scalar(select(func.count()).select_from(DocumentPage).where(*current))
        rows = select(DocumentPage, _has_annotations()).where(*current).order_by(DocumentPage.page_number)
        found = await self._session.execute(rows.offset(offset).limit(limit))
        return [(row, has_annotations) for row, has_annotations in found], total or 0

    async def get_page(self, document_id: UUID, number: int) -> DocumentPage:
        """Return a page that exists, or raise `PageNotFound`."""
        current = select(DocumentPage).where(DocumentPage.document_id == document_id, DocumentPage.stale_at.is_(None))
        found = await self._session.scalar(current.where(DocumentPage.page_number == number))
        if found is None:
            raise PageNotFound
        return found

    async def list_stale_pages(
        self, document_id: UUID, *, offset: int, limit: int
    ) -> tuple[Sequence[DocumentPage], int]:
        """Return pages that no longer exist but have annotations or flags, and their number."""
        is_annotated = or_(DocumentPage.annotations.is_not(None), DocumentPage.flags.is_not(None))
        stale = select(DocumentPage).where(
            DocumentPage.document_id == document_id, DocumentPage.stale_at.is_not(None), is_annotated
        )
        return await self._list_window(stale.order_by(DocumentPage.page_number), offset, limit)

    async def list_paragraph_annotations(
        self, document_id: UUID, artifact_ids: Collection[UUID]
    ) -> Sequence[DocumentParagraph]:
        """Return the rows of these paragraphs. Only annotated paragraphs have one."""
        of_document = select(DocumentParagraph).where(DocumentParagraph.document_id == document_id)
        annotated = of_document.where(DocumentParagraph.artifact_paragraph_id.in_(artifact_ids))
        return (await self._session.scalars(annotated)).all()

    async def list_stale_paragraphs(
        self, document_id: UUID, *, offset: int, limit: int
    ) -> tuple[Sequence[DocumentParagraph], int]:
        """Return the annotations of paragraphs that no longer exist, and their number."""
        stale = select(DocumentParagraph).where(
            DocumentParagraph.document_id == document_id, DocumentParagraph.stale_at.is_not(None)
        )
        ordered = stale.order_by(DocumentParagraph.page_number, DocumentParagraph.paragraph_index.desc())
        return await self._list_window(ordered, offset, limit)

    async def list_diagrams(
        self, document_id: UUID, page_number: int | None, *, offset: int, limit: int
    ) -> tuple[Sequence[DocumentDiagram], int]:
        """Return diagrams, including stale ones that are annotated, and their number."""
        is_listed = or_(DocumentDiagram.stale_at.is_(None), DocumentDiagram.annotations.is_not(None))
        rows = select(DocumentDiagram).where(DocumentDiagram.document_id == document_id, is_listed)
        if page_number is not None:
            rows = rows.where(DocumentDiagram.page_number == page_number)
        ordered = rows.order_by(DocumentDiagram.page_number, DocumentDiagram.diagram_key)
        return await self._list_window(ordered, offset, limit)

    async def get_diagram(self, document_id: UUID, key: str) -> DocumentDiagram:
        """Return a diagram that exists, or raise `DiagramNotFound`."""
        current = select(DocumentDiagram).where(
            DocumentDiagram.document_id == document_id, DocumentDiagram.stale_at.is_(None)
        )
        found = await self._session.scalar(current.where(DocumentDiagram.diagram_key == key))
        if found is None:
            raise DiagramNotFound
        return found

    async def _list_window(self, rows: Select[RowT], offset: int, limit: int) -> tuple[Sequence[RowT], int]:
        total = await self._session.scalar(select(func.count()).select_from(rows.order_by(None).subquery()))
        return (await self._session.scalars(rows.offset(offset).limit(limit))).all(), total or 0


def _has_annotations() -> ColumnElement[bool]:
    def is_annotated(part: type[Any]) -> ColumnElement[bool]:
        same_page = and_(part.document_id == DocumentPage.document_id, part.page_number == DocumentPage.page_number)
        return exists().where(same_page, part.annotations.is_not(None), part.stale_at.is_(None))

    return or_(DocumentPage.annotations.is_not(None), is_annotated(DocumentParagraph), is_annotated(DocumentDiagram))
