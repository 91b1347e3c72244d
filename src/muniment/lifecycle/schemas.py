"""Request and response bodies of all lifecycle moves."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from muniment.audit.tables import AuditEvent
from muniment.documents.tables import Document, Status
from muniment.lifecycle.bulk import BulkArchived, BulkPurged
from muniment.lifecycle.explain import Explanation, Judgement, OpenRun
from muniment.lifecycle.knowledge_base_purge import Leaving
from muniment.lifecycle.moves.purge import Ended
from muniment.lifecycle.rules import Move

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


class EventRead(BaseModel):
    id: UUID
    at: datetime
    action: str
    actor: str

    @classmethod
    def of(cls, event: AuditEvent) -> "EventRead":
        return cls(id=event.id, at=event.at, action=event.action, actor=event.actor)


class OpenRunRead(BaseModel):
    id: UUID
    purpose: str
    status: str
    attempt: int
    last_step: str | None
    created_at: datetime

    @classmethod
    def of(cls, run: OpenRun) -> "OpenRunRead":
        return cls(**vars(run))


class HandOverRead(BaseModel):
    status: str
    job_id: str | None
    handed_over_at: datetime | None

    @classmethod
    def of(cls, document: Document) -> "HandOverRead | None":
        if document.archive_status is None:
            return None
        return cls(
            status=document.archive_status, job_id=document.archive_job_id, handed_over_at=document.handed_over_at
        )


class MoveRead(BaseModel):
    move: Move
    allowed: bool = Field(description="To you, now")
    reason: str | None = Field(description="Why not")
    by: list[str] = Field(description="Who may: `owner`, `admin`, `editor`; `muniment` does some by itself")
    blocked_by: UUID | None = Field(description="The document whose name is in the way")

    @classmethod
    def of(cls, judgement: Judgement) -> "MoveRead":
        return cls(
            move=judgement.move,
            allowed=judgement.is_allowed,
            reason=judgement.reason,
            by=list(judgement.by),
            blocked_by=judgement.namesake_id,
        )


class ExplanationRead(BaseModel):
    id: UUID
    name: str
    status: Status
    why: str
    last_error: str | None
    index_is_being_put_back: bool
    run: OpenRunRead | None = Field(description="The one that is under way")
    hand_over: HandOverRead | None
    events: list[EventRead] | None = Field(description="Newest first; null if you may not read the audit trail")
    moves: list[MoveRead]
    next: list[str] = Field(description="What can be done, in sentences")

    @classmethod
    def of(cls, explained: Explanation) -> "ExplanationRead":
        facts, document = explained.facts, explained.facts.document
        return cls(
            id=document.id,
            name=document.name,
            status=Status(document.status),
            why=explained.why,
            last_error=document.last_error,
            index_is_being_put_back=facts.is_being_put_back,
            run=OpenRunRead.of(facts.run) if facts.run else None,
            hand_over=HandOverRead.of(document),
            events=None if facts.events is None else [EventRead.of(event) for event in facts.events],
            moves=[MoveRead.of(judgement) for judgement in explained.judgements],
            next=explained.next,
        )


class RemovedRead(BaseModel):
    """A document that is gone, proven by its receipt."""

    message: str
    receipt_id: UUID


class BeingRemovedRead(BaseModel):
    """A document that is gone and found by nobody; some stores were not seen empty yet."""

    message: str
    receipt_id: None
    pending: list[str]


def ended_read(ended: Ended, done: str, under_way: str) -> RemovedRead | BeingRemovedRead:
    if ended.receipt_id is not None:
        return RemovedRead(message=done, receipt_id=ended.receipt_id)
    return BeingRemovedRead(message=under_way, receipt_id=None, pending=list(ended.pending))


class BulkPurgedRead(BaseModel):
    purged: int
    skipped: int
    skipped_ids: list[UUID]
    pending_ids: list[UUID]
    failed_ids: list[UUID]
    message: str

    @classmethod
    def of(cls, done: BulkPurged) -> "BulkPurgedRead":
        return cls(
            purged=len(done.purged_ids),
            skipped=len(done.skipped_ids),
            skipped_ids=done.skipped_ids,
            pending_ids=done.pending_ids,
            failed_ids=done.failed_ids,
            message=done.message,
        )


class KnowledgeBaseRemovedRead(BaseModel):
    message: str
    remaining: int
    pending: int
    blocked_ids: list[UUID]

    @classmethod
    def of(cls, leaving: Leaving) -> "KnowledgeBaseRemovedRead":
        counts = {"remaining": leaving.remaining, "pending": leaving.pending, "blocked_ids": leaving.blocked_ids}
        return cls(message=_said(leaving), **counts)


def _said(leaving: Leaving) -> str:
    if leaving.is_gone:
        return "Knowledge base and all its documents permanently deleted"
    if leaving.blocked_ids:
        return (
            "The knowledge base is being deleted. Some documents are being sent to Paperless. Repeat the request later"
        )
    return "The knowledge base is being deleted. Repeat the request to continue"


class ReplacedRead(BaseModel):
    """A document whose new bytes are stored (specs/lifecycle.md)."""

    id: UUID
    name: str
    status: Status
    message: str

    @classmethod
    def of(cls, document: Document) -> "ReplacedRead":
        return cls(
            id=document.id,
            name=document.name,
            status=Status(document.status),
            message="Document replaced and queued for processing",
        )
