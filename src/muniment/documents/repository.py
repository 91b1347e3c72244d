"""Every query of documents, their revisions and uploads. Row level security shows only what the caller may see.

Requests add and delete revision rows; they never change one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, delete, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.names import name_key
from muniment.documents.tables import ACTIVE, Document, Revision, Status, Upload
from muniment.errors import MunimentError, NotFound
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound


class DocumentNotFound(NotFound):
    """Document not found"""


@dataclass(frozen=True)
class DocumentFilter:
    """Which documents to list, and in which order."""

    kb_id: UUID | None
    """None for all knowledge bases that the caller may see."""
    document_id: UUID | None = None
    """Only this document, whatever its status."""
    statuses: Sequence[str] = ()
    search: str = ""
    document_types: Sequence[str] = ()
    sort: str = "-created_at"
    offset: int = 0
    limit: int = 20


SORT_COLUMNS: dict[str, ColumnElement[Any]] = {
    "name": Document.name_key.expression,
    "created_at": Document.created_at.expression,
    "updated_at": Document.updated_at.expression,
    "file_size": Document.file_size.expression,
    "status": Document.status.expression,
    "document_type": Document.document_type.expression,
}


SORTS = tuple(SORT_COLUMNS) + tuple(f"-{name}" for name in SORT_COLUMNS)


# Queries of every upload and every move, built once: building them costs more than running them.
_BY_ID = select(Document).where(Document.id == bindparam("document_id"), Document.kb_id == bindparam("kb_id"))


_BY_ID_LOCKED = _BY_ID.with_for_update(key_share=True)


_BY_NAME = select(Document).where(Document.kb_id == bindparam("kb_id"), Document.name_key == bindparam("key"))


_ACTIVE_BY_NAME = _BY_NAME.where(Document.status.in_(ACTIVE))


_INACTIVE_BY_NAME = _BY_NAME.where(Document.status.in_((Status.ARCHIVED, Status.FAILED))).order_by(Document.id)


_INACTIVE_BY_NAME_LOCKED = _INACTIVE_BY_NAME.with_for_update()


_INSERT = insert(Document).on_conflict_do_nothing().returning(Document)


# The bare tables: what the mapper adds to these statements costs more than they do.
_UPLOADS, _REVISIONS = cast("Table", Upload.__table__), cast("Table", Revision.__table__)
_ADD_UPLOAD, _ADD_REVISION = insert(_UPLOADS), insert(_REVISIONS)
_FIRST_REVISION = (
    "document_id",
    "revision",
    "organization_id",
    "name",
    "media_type",
    "original_uri",
    "file_size",
    "sha256",
    "content_hmac",
    "uploaded_by",
)
"""Columns of the revision of a new document. The others belong to replacements."""


_CLAIM_UPLOAD = delete(_UPLOADS).where(_UPLOADS.c.id == bindparam("upload_id")).returning(_UPLOADS.c.id)


class DocumentRepository:
    """Queries of documents."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add_if_name_free(self, document: Document) -> Document | None:
        """Insert a document with its revision. Return None if an active document of the knowledge base has the name."""
        values = {
            column.key: getattr(document, column.key)
            for column in Document.__mapper__.column_attrs
            if getattr(document, column.key) is not None
        }
        try:
            added = await self._session.scalar(_INSERT, values)
        except IntegrityError:
            raise KnowledgeBaseNotFound from None  # it was deleted during the upload
        if added is not None:
            revision = build_revision(document)
            await self._session.execute(_ADD_REVISION, {name: getattr(revision, name) for name in _FIRST_REVISION})
        return added

    async def get(self, kb_id: UUID, document_id: UUID) -> Document:
        """Return the document, or raise `DocumentNotFound`."""
        found = await self._session.scalar(_BY_ID, {"document_id": document_id, "kb_id": kb_id})
        if found is None:
            raise DocumentNotFound
        return found

    async def lock(self, kb_id: UUID, document_id: UUID) -> Document:
        """Return the document, locked against other moves and its worker until the transaction ends."""
        found = await self._session.scalar(_BY_ID_LOCKED, {"document_id": document_id, "kb_id": kb_id})
        if found is None:
            raise DocumentNotFound
        return found

    async def find_active(self, kb_id: UUID, key: str) -> Document | None:
        """Return the active document of this name."""
        return await self._session.scalar(_ACTIVE_BY_NAME, {"kb_id": kb_id, "key": key})

    async def lock_with_namesakes(self, kb_id: UUID, document_id: UUID, key: str) -> Document:
        """Return the document, locked together with the archived and failed documents of the name that it is to have.

        The rows are locked in the order of their ids, so that two documents that change their names cannot deadlock.
        """
        is_inactive = Document.status.in_((Status.ARCHIVED, Status.FAILED))
        rows = select(Document).where(
            Document.kb_id == kb_id, or_(Document.id == document_id, and_(Document.name_key == key, is_inactive))
        )
        locked = (await self._session.scalars(rows.order_by(Document.id).with_for_update())).all()
        found = next((document for document in locked if document.id == document_id), None)
        if found is None:
            raise DocumentNotFound
        return found

    async def list_inactive_namesakes(self, kb_id: UUID, key: str) -> Sequence[Document]:
        """Return the archived and failed documents of this name."""
        return (await self._session.scalars(_INACTIVE_BY_NAME, {"kb_id": kb_id, "key": key})).all()

    async def lock_inactive_namesakes(self, kb_id: UUID, key: str) -> Sequence[Document]:
        """Return the archived and failed documents of this name, locked until the transaction ends."""
        return (await self._session.scalars(_INACTIVE_BY_NAME_LOCKED, {"kb_id": kb_id, "key": key})).all()

    async def list_(self, document_filter: DocumentFilter) -> tuple[Sequence[Document], int]:
        """Return one page of documents, and the total."""
        matching = _select_matching(document_filter)
        total = await self._session.scalar(select(func.count()).select_from(matching.subquery()))
        column = SORT_COLUMNS[document_filter.sort.removeprefix("-")]
        order = column.desc() if document_filter.sort.startswith("-") else column.asc()
        tie = Document.id.desc() if document_filter.sort.startswith("-") else Document.id.asc()
        page = await self._session.scalars(
            matching.order_by(order, tie).offset(document_filter.offset).limit(document_filter.limit)
        )
        return page.all(), total or 0

    async def list_content_keys(self, document_id: UUID) -> Sequence[tuple[str, str]]:
        """Return the object key of the original and the content key of each revision."""
        columns = (Revision.original_uri, Revision.content_hmac)
        found = await self._session.execute(select(*columns).where(Revision.document_id == document_id))
        return [(key, content_key) for key, content_key in found]

    async def delete(self, document_id: UUID) -> None:
        """Delete the row. Only `documents.purge` calls this."""
        await self._session.execute(delete(Document).where(Document.id == document_id))


class UploadRepository:
    """Queries of uploads in progress."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, upload: Upload) -> None:
        """Record an upload before its first byte."""
        columns = ("id", "organization_id", "document_id", "blob_key", "uploaded_by", "expires_at")
        values = {name: getattr(upload, name) for name in columns}
        await self._session.execute(_ADD_UPLOAD, {**values, "knowledge_base_id": upload.kb_id})

    async def claim(self, upload_id: UUID) -> bool:
        """Claim the upload by deleting its row. Return False if it was already claimed."""
        claimed = await self._session.scalar(_CLAIM_UPLOAD, {"upload_id": upload_id})
        return claimed is not None

    async def extend_expiry(self, upload_id: UUID, expires_at: datetime) -> bool:
        """Extend the expiry of an upload. Return False if it was already claimed."""
        extended = await self._session.scalar(
            update(Upload).where(Upload.id == upload_id).values(expires_at=expires_at).returning(Upload.id)
        )
        return extended is not None

    async def claim_expired(self, now: datetime, *, limit: int) -> Sequence[Upload]:
        """Claim expired uploads by deleting their rows."""
        expired = select(Upload.id).where(Upload.expires_at < now).limit(limit).with_for_update(skip_locked=True)
        return (await self._session.scalars(delete(Upload).where(Upload.id.in_(expired)).returning(Upload))).all()


def _select_matching(document_filter: DocumentFilter) -> Select[Document]:
    matching = select(Document)
    if document_filter.kb_id:
        matching = matching.where(Document.kb_id == document_filter.kb_id)
    if document_filter.document_id:
        matching = matching.where(Document.id == document_filter.document_id)
    if document_filter.statuses:
        matching = matching.where(Document.status.in_(document_filter.statuses))
    elif not document_filter.document_id:
        matching = matching.where(Document.status != Status.ARCHIVED)
    if document_filter.document_types:
        matching = matching.where(Document.document_type.in_(document_filter.document_types))
    if document_filter.search:
        matching = matching.where(Document.name_key.contains(name_key(document_filter.search), autoescape=True))
    return matching


# Runs are considered too: the number of a reverted revision must not be used again, because browsers and image caches
# identify pages by it.
_NEXT_REVISION = text("""
    SELECT 1 + greatest((SELECT max(revision) FROM document_revisions WHERE document_id = :document_id),
                        (SELECT max(revision) FROM document_processing_runs WHERE document_id = :document_id))
""")


_EPOCHS_AFTER = text("""
    SELECT epoch FROM document_processing_runs WHERE document_id = :document_id AND revision > :revision ORDER BY epoch
""")


class RevisionRepository:
    """Queries of revisions."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get(self, document_id: UUID, revision: int) -> Revision:
        """Return a revision that exists."""
        statement = select(Revision).where(Revision.document_id == document_id, Revision.revision == revision)
        return (await self._session.scalars(statement)).one()

    async def add(self, document: Document, snapshot: dict[str, Any] | None) -> None:
        """Add the revision that the document's row describes, with the snapshot to revert to."""
        self._session.add(build_revision(document, snapshot))
        await self._session.flush()

    async def list_sizes(self, document_id: UUID) -> Sequence[tuple[int, bool]]:
        """Return the file sizes of all revisions that are kept, oldest first, and whether each is a failed
        replacement, which the next replacement deletes."""
        sizes = select(Revision.file_size, Revision.expires_at.is_not(None)).where(Revision.document_id == document_id)
        rows = await self._session.execute(sizes.order_by(Revision.revision))
        return [(size, is_failed) for size, is_failed in rows]

    async def next_revision(self, document_id: UUID) -> int:
        """Return a revision number that this document never had. The caller has locked the document."""
        found: int = (await self._session.execute(_NEXT_REVISION, {"document_id": document_id})).scalar_one()
        return found

    async def list_epochs_after(self, document_id: UUID, revision: int) -> Sequence[int]:
        """Return the epochs of all runs of later revisions."""
        return (await self._session.scalars(_EPOCHS_AFTER, {"document_id": document_id, "revision": revision})).all()

    async def references_object(self, document_id: UUID, key: str) -> bool:
        """Return whether a revision of the document has this object as its original."""
        revision = select(Revision.revision).where(Revision.document_id == document_id, Revision.original_uri == key)
        return await self._session.scalar(revision) is not None

    async def delete_all_except(self, document_id: UUID, keep: Collection[int]) -> Sequence[Revision]:
        """Delete the rows of all revisions but these, and return them."""
        others = delete(Revision).where(Revision.document_id == document_id, Revision.revision.not_in(keep))
        return (await self._session.scalars(others.returning(Revision))).all()

    async def clear_snapshot(self, document_id: UUID, revision: int) -> None:
        """Delete the snapshot of a completed revision: from now on there is nothing to revert to."""
        statement = update(Revision).where(Revision.document_id == document_id, Revision.revision == revision)
        await self._session.execute(statement.values(snapshot=None))

    async def mark_failed(
        self, document_id: UUID, revision: int, failure: Mapping[str, Any], expires_at: datetime
    ) -> None:
        """Keep a revision as a failed replacement. Its snapshot is deleted: the document was reverted to it."""
        statement = update(Revision).where(Revision.document_id == document_id, Revision.revision == revision)
        await self._session.execute(statement.values(snapshot=None, failure=dict(failure), expires_at=expires_at))

    async def list_failed(self, document_ids: Collection[UUID]) -> Mapping[UUID, Revision]:
        """Return the failed replacements of these documents, by document."""
        failed = select(Revision).where(Revision.document_id.in_(document_ids), Revision.expires_at.is_not(None))
        rows = await self._session.scalars(failed.order_by(Revision.revision))
        return {row.document_id: row for row in rows}

    async def find_failed(self, document_id: UUID) -> Revision | None:
        """Return the failed replacement of the document."""
        return (await self.list_failed([document_id])).get(document_id)

    async def delete_failed(self, document_id: UUID) -> Sequence[Revision]:
        """Delete the rows of failed replacements of the document, and return those that this call has deleted."""
        failed = delete(Revision).where(Revision.document_id == document_id, Revision.expires_at.is_not(None))
        return (await self._session.scalars(failed.returning(Revision))).all()

    async def list_expired(self, at: datetime, *, limit: int) -> Sequence[UUID]:
        """Return documents whose failed replacement has expired."""
        expired = select(Revision.document_id).where(Revision.expires_at <= at).order_by(Revision.expires_at)
        return (await self._session.scalars(expired.limit(limit))).all()


def build_revision(document: Document, snapshot: dict[str, Any] | None = None) -> Revision:
    """Return the revision that the document's row describes."""
    return Revision(
        document_id=document.id,
        revision=document.revision,
        organization_id=document.organization_id,
        name=document.name,
        media_type=document.media_type,
        original_uri=document.original_uri,
        file_size=document.file_size,
        sha256=document.sha256,
        content_hmac=document.content_hmac,
        uploaded_by=document.uploaded_by,
        snapshot=snapshot,
    )


@dataclass(frozen=True)
class PassageCount:
    """How many passages a document has for the active model, and how many of them have vectors."""

    passages: int = 0
    passages_embedded: int = 0
    is_embedded: bool = False
    """Whether all have vectors. False for a document without a text."""

    def derive_processing_status(self, stored: str | None) -> str | None:
        """Return the processing status as users see it. Vectors belong to the artifact, so that the stored status of a
        document does not change with them."""
        return ANALYSIS_COMPLETE if self.is_embedded and stored == BASIC_COMPLETE else stored


BASIC_COMPLETE, ANALYSIS_COMPLETE = "basic_complete", "analysis_complete"
NO_PASSAGES = PassageCount()


class PassageCountRepository:
    """Counts of passages, through a function of search, which is above this feature."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(self, document_ids: Collection[UUID]) -> Mapping[UUID, PassageCount]:
        """Return the counts of those documents that have an indexed text and that the caller may see."""
        counts = text("SELECT * FROM count_document_passages(CAST(:ids AS uuid[]))")
        rows = await self._session.execute(counts, {"ids": list(document_ids)})
        return {document_id: PassageCount(*of_document) for document_id, *of_document in rows}


class OriginalMissing(MunimentError):
    """The stored file is missing. Contact your operator"""
