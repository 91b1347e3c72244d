from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from muniment.documents.tables import Document, Status
from muniment.lifecycle.bulk_archive import BulkArchived

MOST_AT_ONCE = 100


class RetryWish(BaseModel):
    """What a person asks for when a document is to be read again."""

    model_config = ConfigDict(extra="forbid")

    force: bool = Field(default=False, description="Take the results anew although the document shows them already")
    algorithm_version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Another version of the reader than the newest"
    )


class MovedRead(BaseModel):
    """A document after it was archived or restored (specs/lifecycle.md)."""

    id: UUID
    name: str
    status: Status
    archived_at: datetime | None

    @classmethod
    def of(cls, document: Document) -> "MovedRead":
        return cls(id=document.id, name=document.name, status=Status(document.status), archived_at=document.archived_at)


class MessageRead(BaseModel):
    message: str


class SeveralDocuments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    document_ids: Annotated[list[UUID], Field(min_length=1, max_length=MOST_AT_ONCE)]


class BulkArchivedRead(BaseModel):
    archived: int
    skipped: int
    skipped_ids: list[UUID]
    message: str

    @classmethod
    def of(cls, done: BulkArchived) -> "BulkArchivedRead":
        return cls(
            archived=len(done.archived_ids),
            skipped=len(done.skipped_ids),
            skipped_ids=list(done.skipped_ids),
            message=done.message,
        )


Moment = AwareDatetime | date
"""A time with its zone, or a whole day in UTC."""


def beginning_of(moment: Moment | None) -> datetime | None:
    return _midnight(moment) if moment is not None and not isinstance(moment, datetime) else moment


def end_of(moment: Moment | None) -> datetime | None:
    """The first moment after it."""
    if moment is None:
        return None
    if isinstance(moment, datetime):
        return moment + timedelta(microseconds=1)
    return _midnight(moment) + timedelta(days=1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


class ArchivedRead(BaseModel):
    """A line of the archive (specs/lifecycle.md)."""

    id: UUID
    name: str
    kb_id: UUID
    kb_name: str
    status: Status
    archived_at: datetime
    completed_at: datetime | None
    file_size: int

    @classmethod
    def of(cls, document: Document, kb_name: str) -> "ArchivedRead":
        assert document.archived_at is not None
        return cls(
            id=document.id,
            name=document.name,
            kb_id=document.kb_id,
            kb_name=kb_name,
            status=Status(document.status),
            archived_at=document.archived_at,
            completed_at=document.completed_at,
            file_size=document.file_size,
        )
