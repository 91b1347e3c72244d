"""Request form and response bodies of the public hand-over API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from muniment.documents.handover_status import ArchiveStatus
from muniment.documents.tables import DocumentType
from muniment.errors import Invalid
from muniment.handover.job_key import is_sha256, underscored
from muniment.handover.queue_listing import DescribedJob
from muniment.handover.submission import HandedOver
from muniment.handover.tables import Priority

_KNOWN_TEXTS = ("invoiceNumber", "contractId")


class BadField(Invalid):
    """A form field is missing or invalid"""


@dataclass(frozen=True)
class Described:
    document_id: UUID
    document_type: DocumentType
    metadata: Mapping[str, Any] = field(default_factory=dict)
    sha256: str | None = None
    priority: Priority = Priority.NORMAL


def read_fields(fields: Mapping[str, str]) -> Described:
    """What they say, or `BadField` with the name of the first that is wrong."""
    return Described(
        _document_id(fields.get("document_id")),
        _document_type(fields.get("document_type")),
        _metadata(fields.get("metadata")),
        _sha256(fields.get("sha256")),
        _priority(fields.get("priority")),
    )


def _document_id(given: str | None) -> UUID:
    try:
        return UUID(given or "")
    except ValueError:
        raise BadField("document_id must be a UUID") from None


def _document_type(given: str | None) -> DocumentType:
    if given not in set(DocumentType):
        raise BadField(f"document_type must be one of {', '.join(DocumentType)}")
    return DocumentType(given)


def _priority(given: str | None) -> Priority:
    if (given or Priority.NORMAL) not in set(Priority):
        raise BadField(f"priority must be one of {', '.join(Priority)}")
    return Priority(given or Priority.NORMAL)


def _sha256(given: str | None) -> str | None:
    if given and not is_sha256(given.lower()):
        raise BadField("sha256 must be a SHA-256 in hexadecimal")
    return given.lower() if given else None


def _metadata(given: str | None) -> Mapping[str, Any]:
    """An object of JSON that PostgreSQL can hold; what it says beside the two that are known is kept with the row."""
    if not given:
        return {}
    try:
        found = json.loads(given)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise BadField("metadata must be JSON") from None
    if not isinstance(found, dict) or "\\u0000" in json.dumps(found):
        raise BadField("metadata must be a JSON object with string values")
    for name in _KNOWN_TEXTS:
        if not isinstance(found.get(name), str | None):
            raise BadField(f"metadata: {name} must be a string")
    return found


class HandedOverRead(BaseModel):
    job_id: str
    archive_status: ArchiveStatus

    @classmethod
    def of(cls, handed_over: HandedOver) -> "HandedOverRead":
        return cls(job_id=handed_over.job_id, archive_status=handed_over.status)


class QueueFailureBody(BaseModel):
    error: str
    code: str


class ArchiveJobRead(BaseModel):
    """One job, for operators: no name, no text, nothing that its document says."""

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

    @classmethod
    def of(cls, described: DescribedJob) -> "ArchiveJobRead":
        job, sidecar = described.job, described.sidecar
        return cls(
            key=job.key.pdf,
            organization_id=job.key.organization_id,
            document_type=underscored(job.key.document_type),
            sha256=job.key.sha256,
            document_id=sidecar.bilko_document_id if sidecar else None,
            since=job.since,
            size_bytes=job.pdf.size_bytes if job.pdf else None,
            retry_count=sidecar.retry_count if sidecar else None,
            last_attempt_at=sidecar.last_attempt_at if sidecar else None,
            last_error=sidecar.last_error if sidecar else None,
            problem=described.problem,
        )


class RequeuedRead(BaseModel):
    job_id: str
    message: str = "Dead letter requeued"
