"""Typed values read from Paperless's responses.

An unexpected shape raises `OutcomeUnknown` instead of being guessed.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import IO, Any, NamedTuple, Self

from muniment.handover.paperless.errors import OutcomeUnknown, PaperlessMisconfigured

PdfContent = bytes | IO[bytes]


def content_size(pdf: PdfContent) -> int:
    if isinstance(pdf, bytes):
        return len(pdf)
    return pdf.seek(0, os.SEEK_END)  # the upload reads from the beginning, whatever the position is


def compute_checksum(pdf: PdfContent, algorithm: str) -> str:
    """Return the checksum in hexadecimal. An open file is read from its beginning."""
    if isinstance(pdf, bytes):
        return hashlib.new(algorithm, pdf, usedforsecurity=False).hexdigest()
    pdf.seek(0)
    return hashlib.file_digest(pdf, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()  # type: ignore[arg-type]


class Version(NamedTuple):
    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a version such as `2.20.15`. Raise `PaperlessMisconfigured` if it is invalid or too old."""
        major, _, rest = text.partition(".")
        minor = rest.partition(".")[0]
        if not (major.isdecimal() and minor.isdecimal()):
            raise PaperlessMisconfigured(
                "Paperless did not report its version. Check that the address is a Paperless-ngx server"
            )
        version = cls(int(major), int(minor))
        if version < MIN_VERSION:
            raise PaperlessMisconfigured(f"Paperless-ngx {major}.{minor} is too old. Version 2.19 or newer is required")
        return version

    @property
    def has_sha256(self) -> bool:
        """Whether Paperless stores the SHA-256 of an original; before version 3 it was the MD5."""
        return self.major >= 3


MIN_VERSION = Version(2, 19)
"""First version that accepts custom fields with values in an upload."""


@dataclass(frozen=True)
class PaperlessDocument:
    id: int
    tags: frozenset[int]
    correspondent: int | None
    document_type: int | None
    custom_fields: Mapping[int, object]
    original_file_name: str | None

    FIELDS = "id,tags,correspondent,document_type,custom_fields,original_file_name"
    """Fields to request. Without this list, Paperless adds the full text of the document."""

    @classmethod
    def parse(cls, row: Mapping[str, Any]) -> Self:
        return cls(
            id=int(row["id"]),
            tags=frozenset(map(int, row["tags"])),
            correspondent=_parse_id(row["correspondent"]),
            document_type=_parse_id(row["document_type"]),
            custom_fields={int(field["field"]): field["value"] for field in row["custom_fields"]},
            original_file_name=row["original_file_name"],
        )


class CreatedObject(NamedTuple):
    """A tag, correspondent, type or field after `create_or_find`."""

    id: int
    is_new: bool
    """Whether this call created it. No document can have it yet."""


def _parse_id(value: object) -> int | None:
    return None if value is None else int(str(value))


@contextmanager
def expect_shape() -> Iterator[None]:
    """Raise `OutcomeUnknown` if a response does not have the shape that Paperless documents."""
    try:
        yield
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise OutcomeUnknown("Paperless returned an unexpected response") from None


_INCOMPLETE_RESULT = "<traceback object"
_DUPLICATE = re.compile(r"It is a duplicate of .*#(\d+)", re.DOTALL)
_IN_TRASH = "existing document is in the trash"
_TRANSIENT_ERRORS = (
    "database is locked",
    "UNIQUE constraint",
    "WorkerLostError",
    "Worker exited prematurely",
    _INCOMPLETE_RESULT,
)
"""Errors that the file did not cause: the next attempt may succeed. A unique constraint means that two tasks raced."""


class TaskStatus(StrEnum):
    PENDING = "PENDING"
    STARTED = "STARTED"
    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"


class TaskFailure(StrEnum):
    """Reason why a file was not imported."""

    DUPLICATE = "duplicate"
    """Paperless already has this content, as `ConsumeTask.document_id`."""
    TRANSIENT = "momentary"
    """The file is not the cause: check whether the document exists, then try again."""
    INVALID_FILE = "of the file"
    """The file cannot be imported, now or later."""


@dataclass(frozen=True)
class ConsumeTask:
    id: int
    task_id: str
    file_name: str | None
    status: TaskStatus
    result: str | None
    document_id: int | None
    """The created document; after `TaskFailure.DUPLICATE` the existing one, which may be hidden from us or in the
    trash."""
    is_in_trash: bool
    """Whether the existing document of a duplicate is in the trash."""
    created_at: datetime | None = None
    done_at: datetime | None = None

    @property
    def is_done(self) -> bool:
        return self.status in (TaskStatus.SUCCESS, TaskStatus.FAILURE)

    @property
    def is_incomplete(self) -> bool:
        """Whether the task failed a moment ago and its reason is not stored yet."""
        return self.status is TaskStatus.FAILURE and (self.result or "").startswith(_INCOMPLETE_RESULT)

    @property
    def failure(self) -> TaskFailure | None:
        """Reason of the failure; `None` if the task did not fail."""
        if self.status is not TaskStatus.FAILURE:
            return None
        if self.document_id is not None:
            return TaskFailure.DUPLICATE
        return TaskFailure.TRANSIENT if _is_transient(self.result or "") else TaskFailure.INVALID_FILE

    @classmethod
    def parse(cls, row: Mapping[str, Any]) -> Self:
        result = row["result"]
        duplicates = row.get("duplicate_documents") or []
        return cls(
            id=int(row["id"]),
            task_id=row["task_id"],
            file_name=row["task_file_name"],
            status=_parse_status(row["status"]),
            result=None if result is None else str(result),
            document_id=_parse_document_id(row["related_document"], str(result or "")),
            is_in_trash=_IN_TRASH in str(result or "") or any(copy.get("deleted_at") for copy in duplicates),
            created_at=_parse_time(row.get("date_created")),
            done_at=_parse_time(row.get("date_done")),
        )


def _parse_time(text: str | None) -> datetime | None:
    """Parse a time with its zone. Without a zone it could not be compared with others."""
    time = None if text is None else datetime.fromisoformat(text)
    return time if time is not None and time.tzinfo is not None else None


def _parse_status(text: str) -> TaskStatus:
    """Map the states of Celery: revoked, rejected and ignored tasks have failed, unknown states are not done."""
    if text in ("REVOKED", "REJECTED", "IGNORED"):
        return TaskStatus.FAILURE
    return TaskStatus(text) if text in TaskStatus.__members__ else TaskStatus.STARTED


def _parse_document_id(related: object, result: str) -> int | None:
    """Parse the document of a task: a string in 2.x, a number in 3.x. For a copy in the trash, 2.x has it only in the
    message."""
    if related is not None:
        return int(str(related))
    found = _DUPLICATE.search(result)
    return int(found[1]) if found else None


def _is_transient(result: str) -> bool:
    return not result or any(text in result for text in _TRANSIENT_ERRORS)
