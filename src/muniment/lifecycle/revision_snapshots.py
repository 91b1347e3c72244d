"""Snapshot of a document before a replacement.

It is stored on the new revision and cleared when that revision completes.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.names import name_key
from muniment.documents.repository import RevisionRepository
from muniment.documents.tables import Document, Revision, Status
from muniment.errors import Refused

SNAPSHOT_STATUSES = frozenset({Status.COMPLETED, Status.ARCHIVED})


class NothingToRevert(Refused):
    """There is no previous version to revert to"""


class RevisionSnapshot(BaseModel):
    """Columns of a document that its revision's row does not hold."""

    model_config = ConfigDict(from_attributes=True, frozen=True)

    revision: int
    status: Status
    processing_status: str | None
    processing_errors: list[dict[str, Any]] | None
    processing_started_at: datetime | None
    processing_completed_at: datetime | None
    completed_at: datetime | None
    archived_at: datetime | None
    last_error: str | None
    index_epoch: int | None
    total_pages: int | None
    total_word_count: int | None
    text_extraction_method: str | None
    archive_status: str | None
    archive_job_id: str | None
    paperless_doc_url: str | None
    handed_over_at: datetime | None

    def columns(self, revision: Revision) -> dict[str, Any]:
        """Return the document's columns as they were, except the status, which only `change_status` writes."""
        return {
            **self.model_dump(exclude={"status"}),
            **_revision_columns(revision),
            "name_key": name_key(revision.name),
        }


async def find_snapshot(session: AsyncSession, document: Document) -> RevisionSnapshot | None:
    """Return what a revert of the document restores, or None if no earlier revision ever completed."""
    stored = (await RevisionRepository(session).get(document.id, document.revision)).snapshot
    return RevisionSnapshot.model_validate(stored) if stored else None


async def get_snapshot(session: AsyncSession, document: Document) -> RevisionSnapshot:
    """Return what a revert of the document restores, or raise `NothingToRevert`."""
    snapshot = await find_snapshot(session, document)
    if snapshot is None:
        raise NothingToRevert
    return snapshot


async def take_snapshot(session: AsyncSession, document: Document) -> dict[str, Any] | None:
    """Return the snapshot to store on a new revision of the document.

    It is the document as it is now or, if that is not readable, the snapshot of the last revision that was.
    """
    if document.status in SNAPSHOT_STATUSES:
        return RevisionSnapshot.model_validate(document).model_dump(mode="json")
    return (await RevisionRepository(session).get(document.id, document.revision)).snapshot


def _revision_columns(revision: Revision) -> dict[str, UUID | str | int | None]:
    return {
        "name": revision.name,
        "media_type": revision.media_type,
        "original_uri": revision.original_uri,
        "file_size": revision.file_size,
        "sha256": revision.sha256,
        "content_hmac": revision.content_hmac,
        "uploaded_by": revision.uploaded_by,
        "artifact_text_id": revision.artifact_text_id,
    }
