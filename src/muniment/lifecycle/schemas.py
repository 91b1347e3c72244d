"""Request and response bodies of all lifecycle moves."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from muniment.audit.tables import AuditEvent
from muniment.documents.runs import ProcessingRun
from muniment.documents.tables import Document, Status
from muniment.lifecycle.bulk import BulkArchived, BulkPurged
from muniment.lifecycle.explain import Explanation, MoveAssessment
from muniment.lifecycle.knowledge_base_purge import PurgeProgress
from muniment.lifecycle.moves.purge import PurgeResult
from muniment.lifecycle.rules import Move

MAX_BULK_DOCUMENTS = 100


class RetryRequest(BaseModel):
    """Options for processing a document again."""

    model_config = ConfigDict(extra="forbid")

    force: bool = Field(default=False, description="Reapply results that are already current")
    algorithm_version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Extraction version to use instead of the newest"
    )


class DocumentStatusRead(BaseModel):
    """A document after it was archived or restored (docs/contracts.md#lifecycle)."""

    id: UUID
    name: str
    status: Status
    archived_at: datetime | None

    @classmethod
    def of(cls, document: Document) -> "DocumentStatusRead":
        return cls(id=document.id, name=document.name, status=Status(document.status), archived_at=document.archived_at)


class MessageRead(BaseModel):
    message: str


class BulkRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    document_ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_BULK_DOCUMENTS)]


class BulkArchivedRead(BaseModel):
    archived: int
    skipped: int
    skipped_ids: list[UUID]
    message: str

    @classmethod
    def of(cls, result: BulkArchived) -> "BulkArchivedRead":
        return cls(
            archived=len(result.archived_ids),
            skipped=len(result.skipped_ids),
            skipped_ids=list(result.skipped_ids),
            message=result.message,
        )


DateOrTime = AwareDatetime | date
"""A time with its zone, or a whole day in UTC."""


def range_start(value: DateOrTime | None) -> datetime | None:
    return _midnight(value) if value is not None and not isinstance(value, datetime) else value


def range_end(value: DateOrTime | None) -> datetime | None:
    """The first moment after it."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value + timedelta(microseconds=1)
    return _midnight(value) + timedelta(days=1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


class ArchivedRead(BaseModel):
    """A line of the archive (docs/contracts.md#lifecycle)."""

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


class RecentEventRead(BaseModel):
    id: UUID
    at: datetime
    action: str
    actor: str

    @classmethod
    def of(cls, event: AuditEvent) -> "RecentEventRead":
        return cls(id=event.id, at=event.at, action=event.action, actor=event.actor)


class OpenRunRead(BaseModel):
    id: UUID
    purpose: str
    status: str
    attempt: int
    last_step: str | None
    created_at: datetime

    @classmethod
    def of(cls, run: ProcessingRun) -> "OpenRunRead":
        return cls(
            id=run.run_id,
            purpose=run.purpose,
            status=run.status,
            attempt=run.attempt,
            last_step=run.last_step,
            created_at=run.created_at,
        )


class HandoverRead(BaseModel):
    status: str
    job_id: str | None
    handed_over_at: datetime | None

    @classmethod
    def of(cls, document: Document) -> "HandoverRead | None":
        if document.archive_status is None:
            return None
        return cls(
            status=document.archive_status, job_id=document.archive_job_id, handed_over_at=document.handed_over_at
        )


class MoveRead(BaseModel):
    move: Move
    allowed: bool = Field(description="Whether you can do this now")
    reason: str | None = Field(description="Why it is not allowed")
    by: list[str] = Field(
        description="Who can do this: `owner`, `admin`, `editor`, or `muniment` if it happens automatically"
    )
    blocked_by: UUID | None = Field(description="The document that has the name")

    @classmethod
    def of(cls, assessment: MoveAssessment) -> "MoveRead":
        return cls(
            move=assessment.move,
            allowed=assessment.is_allowed,
            reason=assessment.reason,
            by=list(assessment.by),
            blocked_by=assessment.namesake_id,
        )


class ExplanationRead(BaseModel):
    id: UUID
    name: str
    status: Status
    why: str
    last_error: str | None
    index_is_being_put_back: bool
    run: OpenRunRead | None = Field(description="The run in progress")
    hand_over: HandoverRead | None
    events: list[RecentEventRead] | None = Field(
        description="Newest first. Null if you have no access to the audit log"
    )
    moves: list[MoveRead]
    next: list[str] = Field(description="What can be done, in sentences")

    @classmethod
    def of(cls, explanation: Explanation) -> "ExplanationRead":
        facts, document = explanation.facts, explanation.facts.document
        return cls(
            id=document.id,
            name=document.name,
            status=Status(document.status),
            why=explanation.status_reason,
            last_error=document.last_error,
            index_is_being_put_back=facts.index_update_pending,
            run=OpenRunRead.of(facts.run) if facts.run else None,
            hand_over=HandoverRead.of(document),
            events=None if facts.events is None else [RecentEventRead.of(event) for event in facts.events],
            moves=[MoveRead.of(assessment) for assessment in explanation.assessments],
            next=explanation.next_steps,
        )


class PurgedRead(BaseModel):
    """A deleted document with its receipt."""

    message: str
    receipt_id: UUID


class PurgePendingRead(BaseModel):
    """A deleted document that is no longer accessible. Some stores have not been verified as empty yet."""

    message: str
    receipt_id: UUID
    receipt_url: str
    """Where the receipt will appear. Until then a request returns 202."""
    pending: list[str]


def purge_result_read(result: PurgeResult, done_message: str, pending_message: str) -> PurgedRead | PurgePendingRead:
    if not result.pending:
        return PurgedRead(message=done_message, receipt_id=result.receipt_id)
    return PurgePendingRead(
        message=pending_message,
        receipt_id=result.receipt_id,
        receipt_url=f"/api/v1/receipts/{result.receipt_id}",
        pending=list(result.pending),
    )


class BulkPurgedRead(BaseModel):
    purged: int
    skipped: int
    skipped_ids: list[UUID]
    pending_ids: list[UUID]
    failed_ids: list[UUID]
    message: str

    @classmethod
    def of(cls, result: BulkPurged) -> "BulkPurgedRead":
        return cls(
            purged=len(result.purged_ids),
            skipped=len(result.skipped_ids),
            skipped_ids=result.skipped_ids,
            pending_ids=result.pending_ids,
            failed_ids=result.failed_ids,
            message=result.message,
        )


class KnowledgeBasePurgeRead(BaseModel):
    message: str
    remaining: int
    pending: int
    blocked_ids: list[UUID]

    @classmethod
    def of(cls, progress: PurgeProgress) -> "KnowledgeBasePurgeRead":
        counts = {"remaining": progress.remaining, "pending": progress.pending, "blocked_ids": progress.blocked_ids}
        return cls(message=_progress_message(progress), **counts)


def _progress_message(progress: PurgeProgress) -> str:
    if progress.is_complete:
        return "Knowledge base and all its documents permanently deleted"
    if progress.blocked_ids:
        return (
            "The knowledge base is being deleted. Some documents are being sent to Paperless. Repeat the request later"
        )
    return "The knowledge base is being deleted. Repeat the request to continue"


class ReplacedRead(BaseModel):
    """A document whose new bytes are stored (docs/contracts.md#lifecycle)."""

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
