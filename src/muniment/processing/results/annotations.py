"""Annotate pages, paragraphs and diagrams. The last writer of a field wins. The audit log records who wrote, not what.

The document row is locked while an annotation is written, so that a reread that re-anchors annotations cannot lose one.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, null, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.access_log import ArtifactContent
from muniment.artifacts.tables import ArtifactParagraph
from muniment.audit.events import DocumentAnnotated
from muniment.audit.log import AuditLog
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document
from muniment.errors import Conflict, NotFound
from muniment.knowledge_bases.access import get_access
from muniment.processing.results.artifact_access import (
    ArtifactAccess,
    PublishedResult,
    published_result,
)
from muniment.processing.results.repository import DiagramNotFound, PageNotFound, ParagraphNotFound
from muniment.processing.results.schemas import (
    AnnotationValue,
    DiagramAnnotations,
    PageAnnotations,
    ParagraphAnnotations,
)
from muniment.processing.results.tables import DocumentDiagram, DocumentPage, DocumentParagraph
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

_POSITION_COLUMNS = [DocumentParagraph.document_id, DocumentParagraph.page_number, DocumentParagraph.paragraph_index]


class AnnotationRepository:
    """Writes the annotations of a document's pages, paragraphs and diagrams."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def lock_document(self, document_id: UUID) -> Document:
        """Return the current document and share-lock its row until the transaction ends.

        Workers that change the row wait for this transaction and it waits for them; other annotations do not wait.
        """
        locked = select(Document).where(Document.id == document_id).with_for_update(read=True)
        found = await self._session.scalar(locked.execution_options(populate_existing=True))
        if found is None:
            raise DocumentNotFound
        return found

    async def update_page(
        self, document_id: UUID, number: int, changes: Mapping[str, AnnotationValue]
    ) -> DocumentPage | None:
        """Set the given fields of a page. Return its row, or `None` if there is no such page."""
        is_page = (DocumentPage.document_id == document_id, DocumentPage.page_number == number)
        columns = {name: _json_or_null(value) for name, value in changes.items()}
        return await self._session.scalar(
            update(DocumentPage).where(*is_page).values(**columns, updated_at=func.now()).returning(DocumentPage)
        )

    async def update_diagram(self, document_id: UUID, key: str, annotations: AnnotationValue) -> DocumentDiagram | None:
        """Set the annotations of a diagram. Return its row, or `None` if there is no such diagram."""
        return await self._session.scalar(
            update(DocumentDiagram)
            .where(DocumentDiagram.document_id == document_id, DocumentDiagram.diagram_key == key)
            .values(annotations=_json_or_null(annotations), updated_at=func.now())
            .returning(DocumentDiagram)
        )

    async def upsert_paragraph(
        self, document: Document, paragraph: ArtifactParagraph, annotations: dict[str, Any]
    ) -> DocumentParagraph:
        """Set the annotations of a paragraph, which has no row before its first annotation."""
        row = insert(DocumentParagraph).values(
            document_id=document.id,
            organization_id=document.organization_id,
            page_number=paragraph.page_number,
            paragraph_index=paragraph.paragraph_index,
            artifact_paragraph_id=paragraph.id,
            paragraph_text_sha256=paragraph.paragraph_text_sha256,
            annotations=annotations,
        )
        changes = {"annotations": row.excluded.annotations, "updated_at": func.now()}
        upsert = row.on_conflict_do_update(index_elements=_POSITION_COLUMNS, set_=changes)
        return (await self._session.scalars(upsert.returning(DocumentParagraph))).one()

    async def update_paragraph(
        self, document_id: UUID, number: int, index: int, annotations: dict[str, Any]
    ) -> DocumentParagraph | None:
        """Set the annotations of a paragraph that has a row, such as a stale one. Return `None` if it has none."""
        is_paragraph = _is_paragraph(document_id, number, index)
        columns = {"annotations": annotations, "updated_at": func.now()}
        return await self._session.scalar(
            update(DocumentParagraph).where(*is_paragraph).values(**columns).returning(DocumentParagraph)
        )

    async def delete_paragraph(self, document_id: UUID, number: int, index: int) -> bool:
        """Delete the annotations of a paragraph. Return whether there were any."""
        is_paragraph = _is_paragraph(document_id, number, index)
        deleted = delete(DocumentParagraph).where(*is_paragraph).returning(DocumentParagraph.paragraph_index)
        return await self._session.scalar(deleted) is not None


def _is_paragraph(document_id: UUID, number: int, index: int) -> tuple[ColumnElement[bool], ...]:
    return (
        DocumentParagraph.document_id == document_id,
        DocumentParagraph.page_number == number,
        DocumentParagraph.paragraph_index == index,
    )


def _json_or_null(value: AnnotationValue) -> Any:
    """Return SQL NULL for `None`, which would otherwise be stored as the JSON value `null`."""
    return null() if value is None else value


class ResultReplaced(Conflict):
    """The document has just been reprocessed. Reload and try again"""

    code = "ReadAgain"


class AnnotationService(ArtifactAccess):
    """Writes annotations for one caller, who must be allowed to upload to the knowledge base."""

    async def annotate_page(
        self, kb_id: UUID, document_id: UUID, number: int, changes: Mapping[str, AnnotationValue]
    ) -> PageAnnotations:
        async with self.database.work(self.principal) as work:
            result = await _lock_result(work, kb_id, document_id, not_found=PageNotFound)
            row = await AnnotationRepository(work.session).update_page(document_id, number, changes)
            if row is None:
                raise PageNotFound
            await _record_event(work, result.document, "page", changes, page_number=number)
            return PageAnnotations.from_row(row)

    async def annotate_diagram(
        self, kb_id: UUID, document_id: UUID, key: str, annotations: AnnotationValue
    ) -> DiagramAnnotations:
        async with self.database.work(self.principal) as work:
            result = await _lock_result(work, kb_id, document_id, not_found=DiagramNotFound)
            row = await AnnotationRepository(work.session).update_diagram(document_id, key, annotations)
            if row is None:
                raise DiagramNotFound
            await _record_event(work, result.document, "diagram", page_number=row.page_number, key=key)
            return DiagramAnnotations.from_row(row)

    async def annotate_paragraph(
        self, kb_id: UUID, document_id: UUID, number: int, index: int, annotations: AnnotationValue
    ) -> ParagraphAnnotations:
        """Set or delete the annotations of a paragraph. A negative index identifies those of a paragraph that no longer
        exists."""
        result = await self._get_writable_result(kb_id, document_id)
        paragraph = await self._get_paragraph(result, number, index) if index >= 0 else None
        async with self.database.work(self.principal) as work:
            locked = await _lock_result(work, kb_id, document_id, not_found=ParagraphNotFound)
            if locked.artifact_id != result.artifact_id:
                raise ResultReplaced
            if annotations is None:
                return await _delete_paragraph_annotation(work, locked.document, number, index)
            repository = AnnotationRepository(work.session)
            row = (
                await repository.upsert_paragraph(locked.document, paragraph, annotations)
                if paragraph
                else await repository.update_paragraph(document_id, number, index, annotations)
            )
            if row is None:
                raise ParagraphNotFound
            await _record_event(work, locked.document, "paragraph", page_number=number, paragraph_index=index)
            return ParagraphAnnotations.from_row(row)

    async def _get_writable_result(self, kb_id: UUID, document_id: UUID) -> PublishedResult:
        async with self.database.work(self.principal) as work:
            result = published_result(await _get_writable_document(work, kb_id, document_id))
        if result is None:
            raise ParagraphNotFound
        return result

    async def _get_paragraph(self, result: PublishedResult, number: int, index: int) -> ArtifactParagraph:
        async with self.open_artifact(result, ArtifactContent.PARAGRAPHS, number) as parts:
            found = await parts.find_paragraph(result.artifact_id, number, index)
        if found is None:
            raise ParagraphNotFound
        return found


async def _get_writable_document(work: Work[Principal], kb_id: UUID, document_id: UUID) -> Document:
    access = await get_access(work, kb_id)
    document = await DocumentRepository(work.session).get(kb_id, document_id)
    access.require_upload()
    return document


async def _lock_result(
    work: Work[Principal], kb_id: UUID, document_id: UUID, *, not_found: type[NotFound]
) -> PublishedResult:
    await _get_writable_document(work, kb_id, document_id)
    result = published_result(await AnnotationRepository(work.session).lock_document(document_id))
    if result is None:
        raise not_found
    return result


async def _delete_paragraph_annotation(
    work: Work[Principal], document: Document, number: int, index: int
) -> ParagraphAnnotations:
    """Delete the row of the paragraph, and record an event only if there was one."""
    if await AnnotationRepository(work.session).delete_paragraph(document.id, number, index):
        await _record_event(work, document, "paragraph", page_number=number, paragraph_index=index)
    elif index < 0:
        raise ParagraphNotFound
    return ParagraphAnnotations(page_number=number, paragraph_index=index, annotations=None, stale_at=None)


async def _record_event(
    work: Work[Principal], document: Document, kind: str, fields: Iterable[str] = ("annotations",), **position: Any
) -> None:
    event = DocumentAnnotated(
        document.id, document.kb_id, document.name, document.revision, kind, position, fields=sorted(fields)
    )
    await AuditLog(work).record(event)
