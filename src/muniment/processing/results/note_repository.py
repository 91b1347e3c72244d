"""Every statement that writes beside a document, as the caller: row level security lets editors and above."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, null, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.tables import ArtifactParagraph
from muniment.documents.repository import DocumentNotFound
from muniment.documents.tables import Document
from muniment.processing.results.schemas import Annotations
from muniment.processing.results.tables import DocumentDiagram, DocumentPage, DocumentParagraph

_PLACE = [DocumentParagraph.document_id, DocumentParagraph.page_number, DocumentParagraph.paragraph_index]


class NoteRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def hold_document(self, document_id: UUID) -> Document:
        """As it is now, until the transaction ends: workers wait for it and it for them, other writers do not."""
        held = select(Document).where(Document.id == document_id).with_for_update(read=True)
        found = await self._session.scalar(held.execution_options(populate_existing=True))
        if found is None:
            raise DocumentNotFound
        return found

    async def write_page(
        self, document_id: UUID, number: int, changes: Mapping[str, Annotations]
    ) -> DocumentPage | None:
        place = (DocumentPage.document_id == document_id, DocumentPage.page_number == number)
        columns = {name: _or_null(value) for name, value in changes.items()}
        return await self._session.scalar(
            update(DocumentPage).where(*place).values(**columns, updated_at=func.now()).returning(DocumentPage)
        )

    async def write_diagram(self, document_id: UUID, key: str, annotations: Annotations) -> DocumentDiagram | None:
        return await self._session.scalar(
            update(DocumentDiagram)
            .where(DocumentDiagram.document_id == document_id, DocumentDiagram.diagram_key == key)
            .values(annotations=_or_null(annotations), updated_at=func.now())
            .returning(DocumentDiagram)
        )

    async def put_paragraph(
        self, document: Document, paragraph: ArtifactParagraph, annotations: dict[str, Any]
    ) -> DocumentParagraph:
        """A paragraph gets its row with the first thing that is written on it."""
        added = insert(DocumentParagraph).values(
            document_id=document.id,
            organization_id=document.organization_id,
            page_number=paragraph.page_number,
            paragraph_index=paragraph.paragraph_index,
            artifact_paragraph_id=paragraph.id,
            paragraph_text_sha256=paragraph.paragraph_text_sha256,
            annotations=annotations,
        )
        changed = {"annotations": added.excluded.annotations, "updated_at": func.now()}
        written = added.on_conflict_do_update(index_elements=_PLACE, set_=changed)
        return (await self._session.scalars(written.returning(DocumentParagraph))).one()

    async def change_paragraph(
        self, document_id: UUID, number: int, index: int, annotations: dict[str, Any]
    ) -> DocumentParagraph | None:
        """One that has its row, if only because its place is gone."""
        place = _paragraph(document_id, number, index)
        columns = {"annotations": annotations, "updated_at": func.now()}
        return await self._session.scalar(
            update(DocumentParagraph).where(*place).values(**columns).returning(DocumentParagraph)
        )

    async def remove_paragraph(self, document_id: UUID, number: int, index: int) -> bool:
        """Whether anything was written there."""
        place = _paragraph(document_id, number, index)
        gone = delete(DocumentParagraph).where(*place).returning(DocumentParagraph.paragraph_index)
        return await self._session.scalar(gone) is not None


def _paragraph(document_id: UUID, number: int, index: int) -> tuple[ColumnElement[bool], ...]:
    return (
        DocumentParagraph.document_id == document_id,
        DocumentParagraph.page_number == number,
        DocumentParagraph.paragraph_index == index,
    )


def _or_null(value: Annotations) -> Any:
    """Without this, `None` would become the JSON value `null`, which is not nothing."""
    return null() if value is None else value
