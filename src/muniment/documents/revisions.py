"""Every query of revisions. A request adds and removes their rows; it never changes one."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Document, Revision

# By their runs too: the number of a revision that was taken back must not come again, since pages in browsers and
# pictures in memory are known by it.
_NEXT_NUMBER = text("""
    SELECT 1 + greatest((SELECT max(revision) FROM document_revisions WHERE document_id = :document_id),
                        (SELECT max(revision) FROM document_processing_runs WHERE document_id = :document_id))
""")

_EPOCHS = text("""
    SELECT epoch FROM document_processing_runs WHERE document_id = :document_id AND revision > :revision ORDER BY epoch
""")


class RevisionRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get(self, document_id: UUID, revision: int) -> Revision:
        wanted = select(Revision).where(Revision.document_id == document_id, Revision.revision == revision)
        return (await self._session.scalars(wanted)).one()

    async def add(self, document: Document, shelved: dict[str, Any] | None) -> None:
        """What the document's row names now, with what it took the place of."""
        self._session.add(revision_of(document, shelved))
        await self._session.flush()

    async def next_number(self, document_id: UUID) -> int:
        """One that this document never had. The caller holds the document."""
        found: int = (await self._session.execute(_NEXT_NUMBER, {"document_id": document_id})).scalar_one()
        return found

    async def list_epochs_after(self, document_id: UUID, revision: int) -> Sequence[int]:
        """Of the runs over later revisions."""
        return (await self._session.scalars(_EPOCHS, {"document_id": document_id, "revision": revision})).all()

    async def is_original(self, document_id: UUID, key: str) -> bool:
        """Whether a revision of the document has these bytes."""
        named = select(Revision.revision).where(Revision.document_id == document_id, Revision.original_uri == key)
        return await self._session.scalar(named) is not None

    async def take_besides(self, document_id: UUID, kept: int) -> Sequence[Revision]:
        """Remove the rows of all but one; what they were."""
        others = delete(Revision).where(Revision.document_id == document_id, Revision.revision != kept)
        return (await self._session.scalars(others.returning(Revision))).all()

    async def forget_shelf(self, document_id: UUID, revision: int) -> None:
        """From here on there is nothing to go back to."""
        this = update(Revision).where(Revision.document_id == document_id, Revision.revision == revision)
        await self._session.execute(this.values(shelved=None))


def revision_of(document: Document, shelved: dict[str, Any] | None = None) -> Revision:
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
        shelved=shelved,
    )
