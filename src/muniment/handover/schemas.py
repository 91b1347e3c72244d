"""Request form and response bodies of the public hand-over API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from muniment.audit.tables import AuditEvent
from muniment.documents.handover_status import HandoverStatus
from muniment.documents.tables import DocumentType
from muniment.errors import Invalid
from muniment.handover.job_key import is_sha256, to_underscores
from muniment.handover.queue_listing import QueueEntryDetails
from muniment.handover.status import DocumentHandoverStatus
from muniment.handover.submission import Submission
from muniment.handover.tables import Priority

_KNOWN_TEXT_FIELDS = ("invoiceNumber", "contractId")


class InvalidFormField(Invalid):
    """A form field is missing or invalid"""


@dataclass(frozen=True)
class HandoverForm:
    """Fields of a submission, besides the file."""

    document_id: UUID
    document_type: DocumentType
    metadata: Mapping[str, Any] = field(default_factory=dict)
    sha256: str | None = None
    priority: Priority = Priority.NORMAL


def parse_form(fields: Mapping[str, str]) -> HandoverForm:
    """Parse the form, or raise `InvalidFormField` for the first invalid field."""
    return HandoverForm(
        _parse_document_id(fields.get("document_id")),
        _parse_document_type(fields.get("document_type")),
        _parse_metadata(fields.get("metadata")),
        _parse_sha256(fields.get("sha256")),
        _parse_priority(fields.get("priority")),
    )


def _parse_document_id(value: str | None) -> UUID:
    try:
        return UUID(value or "")
    except ValueError:
        raise InvalidFormField("document_id must be a UUID") from None


def _parse_document_type(value: str | None) -> DocumentType:
    if value not in set(DocumentType):
        raise InvalidFormField(f"document_type must be one of {', '.join(DocumentType)}")
    return DocumentType(value)


def _parse_priority(value: str | None) -> Priority:
    if (value or Priority.NORMAL) not in set(Priority):
        raise InvalidFormField(f"priority must be one of {', '.join(Priority)}")
    return Priority(value or Priority.NORMAL)


def _parse_sha256(value: str | None) -> str | None:
    if value and not is_sha256(value.lower()):
        raise InvalidFormField("sha256 must be a SHA-256 in hexadecimal")
    return value.lower() if value else None


def _parse_metadata(value: str | None) -> Mapping[str, Any]:
    """Parse a JSON object that PostgreSQL can store. Unknown fields are stored with the record."""
    if not value:
        return {}
    try:
        found = json.loads(value)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise InvalidFormField("metadata must be JSON") from None
    if not isinstance(found, dict) or "\\u0000" in json.dumps(found):
        raise InvalidFormField("metadata must be a JSON object with string values")
    for name in _KNOWN_TEXT_FIELDS:
        if not isinstance(found.get(name), str | None):
            raise InvalidFormField(f"metadata: {name} must be a string")
    return found


class SubmissionRead(BaseModel):
    job_id: str
    archive_status: HandoverStatus

    @classmethod
    def from_submission(cls, submission: Submission) -> "SubmissionRead":
        return cls(job_id=submission.job_id, archive_status=submission.status)


class HandoverEventRead(BaseModel):
    """Event of a hand-over: submitted, confirmed in Paperless or failed; its dead letter requeued, discarded or
    expired."""

    at: datetime
    action: str
    job_id: str
    paperless_doc_url: str | None

    @classmethod
    def of(cls, event: AuditEvent) -> "HandoverEventRead":
        payload = event.payload
        return cls(
            at=event.at,
            action=event.action,
            job_id=payload["job_id"],
            paperless_doc_url=payload.get("paperless_doc_url"),
        )


class HandoverStatusRead(BaseModel):
    """Hand-over of one document. Without `job_id`, it waits to be put into the queue."""

    document_id: UUID
    job_id: str | None
    document_type: str | None
    archive_status: HandoverStatus
    attempts: int
    """Failed attempts that count. After three, or one that is rejected, the job becomes a dead letter."""
    last_error: str | None
    paperless_doc_id: int | None
    paperless_doc_url: str | None
    submitted_at: datetime | None
    archived_at: datetime | None
    history: list[HandoverEventRead]

    @classmethod
    def of(cls, status: DocumentHandoverStatus) -> "HandoverStatusRead":
        record = status.record
        return cls(
            document_id=status.document_id,
            job_id=record.r2_object_key if record else None,
            document_type=record.document_type if record else None,
            archive_status=status.status,
            attempts=record.retry_count if record else 0,
            last_error=record.last_error if record else None,
            paperless_doc_id=record.paperless_doc_id if record else None,
            paperless_doc_url=record.paperless_doc_url if record else None,
            submitted_at=record.created_at if record else None,
            archived_at=record.archived_at if record else None,
            history=[HandoverEventRead.of(event) for event in status.history],
        )


class QueueWriteFailedBody(BaseModel):
    error: str
    code: str


class QueueEntryRead(BaseModel):
    """A job, for operators. Contains no document name or content."""

    key: str
    organization_id: UUID
    document_type: str
    sha256: str
    document_id: UUID | None
    since: datetime
    size_bytes: int | None
    retry_count: int | None
    last_attempt_at: datetime | None
    last_error: str | None
    problem: str | None
    """What is missing of it or cannot be read."""
    reason: str | None
    """Why it is a dead letter, or was not sent yet: one sentence for people."""

    @classmethod
    def from_details(cls, details: QueueEntryDetails, default_reason: str | None = None) -> "QueueEntryRead":
        job, sidecar = details.entry, details.sidecar
        return cls(
            key=job.key.pdf,
            organization_id=job.key.organization_id,
            document_type=to_underscores(job.key.document_type),
            sha256=job.key.sha256,
            document_id=sidecar.bilko_document_id if sidecar else None,
            since=job.last_modified_at,
            size_bytes=job.pdf.size_bytes if job.pdf else None,
            retry_count=sidecar.retry_count if sidecar else None,
            last_attempt_at=sidecar.last_attempt_at if sidecar else None,
            last_error=sidecar.last_error if sidecar else None,
            problem=details.problem,
            reason=details.reason or default_reason,
        )


class RequeuedRead(BaseModel):
    job_id: str
    message: str = "Dead letter requeued"
