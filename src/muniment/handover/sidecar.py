"""Sidecar of a queued PDF: schema version 1 of docs/contracts.md#sidecar, and the fields that Muniment adds.

The field names are a wire format that other producers write too. Unknown fields are preserved.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from muniment.handover.job_key import JobKey, is_document_type, is_sha256

SCHEMA_VERSION = "1"
MAX_SIDECAR_BYTES = 64 * 1024
"""Limit of a sidecar, which normally has a few hundred bytes."""

_MAX_COUNT = 2**31 - 1  # limit of the database columns
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that JSON can express but PostgreSQL and UTF-8 cannot."""


class InvalidSidecar(ValueError):
    """Not a sidecar of schema version 1. The message says what is wrong and quotes nothing of the content."""


@dataclass(frozen=True)
class Sidecar:
    """Metadata of a queued PDF, and the state of its upload."""

    organization_id: UUID
    organization_name: str
    document_type: str
    """With hyphens."""
    bilko_document_id: UUID
    timestamp: datetime
    """Time of the submission."""
    sha256: str
    invoice_number: str | None = None
    contract_id: str | None = None
    retry_count: int = 0
    last_attempt_at: datetime | None = None
    last_error: str | None = None
    attempt_id: str | None = None
    """Upload that the archiver has started. From then on the job cannot be cancelled."""
    file_name: str | None = None
    """File name of that upload, by which it is found if its response was lost."""
    task_id: str | None = None
    uploaded_at: datetime | None = None
    paperless_document_id: int | None = None
    """Document that Paperless created from the file and hides from the archiver. The file is not uploaded again."""
    cancelled_at: datetime | None = None
    """Time of the cancellation. The job must be left alone: its objects are being deleted."""
    document_name: str | None = None
    """File name of the document at its producer, for the people who use Paperless."""
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Unknown fields, as they were read."""

    @property
    def key(self) -> JobKey:
        """Key of the job that this sidecar describes."""
        return JobKey(self.organization_id, self.document_type, self.sha256)

    def to_bytes(self) -> bytes:
        """Serialize all fields of version 1, ours if they are set, and the unknown ones unchanged."""
        standard = {
            "schemaVersion": SCHEMA_VERSION,
            "r2Uuid": self.sha256,
            "organizationId": str(self.organization_id),
            "organizationName": self.organization_name,
            "documentType": self.document_type,
            "bilkoDocumentId": str(self.bilko_document_id),
            "invoiceNumber": self.invoice_number,
            "contractId": self.contract_id,
            "timestamp": _format_time(self.timestamp),
            "sha256": self.sha256,
            "retryCount": self.retry_count,
            "lastAttemptAt": _format_time(self.last_attempt_at),
            "lastError": self.last_error,
        }
        added = {
            "attemptId": self.attempt_id,
            "fileName": self.file_name,
            "taskId": self.task_id,
            "uploadedAt": _format_time(self.uploaded_at),
            "paperlessDocumentId": self.paperless_document_id,
            "cancelledAt": _format_time(self.cancelled_at),
            "documentName": self.document_name,
        }
        set_fields = {name: value for name, value in added.items() if value is not None}
        return json.dumps({**self.extra, **standard, **set_fields}, indent=2).encode()


def parse_sidecar(data: bytes) -> Sidecar:
    """Parse a sidecar, or raise `InvalidSidecar`."""
    fields = _FieldReader(_read_object(data))
    if fields.read("schemaVersion") != SCHEMA_VERSION:
        raise InvalidSidecar("schemaVersion is not 1")
    sidecar = Sidecar(
        organization_id=fields.uuid("organizationId"),
        organization_name=fields.text("organizationName"),
        document_type=fields.text("documentType"),
        bilko_document_id=fields.uuid("bilkoDocumentId"),
        timestamp=fields.time("timestamp"),
        sha256=fields.text("sha256"),
        invoice_number=fields.optional_text("invoiceNumber"),
        contract_id=fields.optional_text("contractId"),
        retry_count=fields.count("retryCount"),
        last_attempt_at=fields.optional_time("lastAttemptAt"),
        last_error=fields.optional_text("lastError"),
        attempt_id=fields.optional_text("attemptId"),
        file_name=fields.optional_text("fileName"),
        task_id=fields.optional_text("taskId"),
        uploaded_at=fields.optional_time("uploadedAt"),
        paperless_document_id=fields.optional_count("paperlessDocumentId"),
        cancelled_at=fields.optional_time("cancelledAt"),
        document_name=fields.optional_text("documentName"),
        extra=fields.unread("r2Uuid"),
    )
    _validate(sidecar, fields.optional_text("r2Uuid"))
    return sidecar


def _validate(sidecar: Sidecar, r2_uuid: str | None) -> None:
    if not is_sha256(sidecar.sha256):
        raise InvalidSidecar("sha256 is not a SHA-256 in lower case")
    if r2_uuid not in (None, sidecar.sha256):
        raise InvalidSidecar("r2Uuid and sha256 differ")
    if not is_document_type(sidecar.document_type):
        raise InvalidSidecar("documentType is not a word in lower case with hyphens")


def _read_object(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_SIDECAR_BYTES:
        raise InvalidSidecar(f"longer than {MAX_SIDECAR_BYTES} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidSidecar("not JSON") from None
    if not isinstance(found, dict):
        raise InvalidSidecar("not a JSON object")
    return found


def _format_time(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat().replace("+00:00", "Z")


class _FieldReader:
    """Reads the fields of a JSON object and checks their types."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields
        self._read = set[str]()

    def read(self, name: str) -> Any:
        self._read.add(name)
        return self._fields.get(name)

    def optional_text(self, name: str) -> str | None:
        value = self.read(name)
        if value is not None and not isinstance(value, str):
            raise InvalidSidecar(f"{name} is not a text")
        if value is not None and _UNSTORABLE.search(value):
            raise InvalidSidecar(f"{name} holds a character that no text has")
        return value

    def text(self, name: str) -> str:
        value = self.optional_text(name)
        if value is None:
            raise InvalidSidecar(f"{name} is missing")
        return value

    def uuid(self, name: str) -> UUID:
        try:
            return UUID(self.text(name))
        except ValueError:
            raise InvalidSidecar(f"{name} is not a UUID") from None

    def count(self, name: str) -> int:
        value = self.optional_count(name)
        if value is None:
            raise InvalidSidecar(f"{name} is not a count")
        return value

    def optional_count(self, name: str) -> int | None:
        value = self.read(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_COUNT:
            raise InvalidSidecar(f"{name} is not a count")
        return value

    def optional_time(self, name: str) -> datetime | None:
        value = self.optional_text(name)
        if value is None:
            return None
        try:
            time = datetime.fromisoformat(value)
            if time.tzinfo is not None:
                return time.astimezone(UTC)
        except (ValueError, OverflowError):
            raise InvalidSidecar(f"{name} is not a time") from None
        raise InvalidSidecar(f"{name} has no time zone")

    def time(self, name: str) -> datetime:
        time = self.optional_time(name)
        if time is None:
            raise InvalidSidecar(f"{name} is missing")
        return time

    def unread(self, *known_fields: str) -> Mapping[str, Any]:
        """Return the fields that no accessor has read."""
        known = self._read.union(known_fields)
        return MappingProxyType({name: value for name, value in self._fields.items() if name not in known})
