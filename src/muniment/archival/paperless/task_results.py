"""A task as Paperless shows it, and what its failure means. Both versions, in the shape of interface version 9."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

_HALF_WRITTEN = "<traceback object"
_DUPLICATE = re.compile(r"It is a duplicate of .*#(\d+)", re.DOTALL)
_IN_TRASH = "existing document is in the trash"
_MOMENTARY = ("database is locked", "UNIQUE constraint", "WorkerLostError", "Worker exited prematurely", _HALF_WRITTEN)
"""What is not the file's fault and may succeed the next time; a lost race among equals leaves the second."""


class TaskStatus(StrEnum):
    PENDING = "PENDING"
    STARTED = "STARTED"
    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"


class Failure(StrEnum):
    """Why a file was not taken in."""

    DUPLICATE = "duplicate"
    """Paperless has these bytes already; `Task.document_id` says where."""
    MOMENTARY = "momentary"
    """Not for the file's sake: look whether it is there, then try again."""
    OF_THE_FILE = "of the file"
    """For the file's sake, for good."""


@dataclass(frozen=True)
class Task:
    id: int
    task_id: str
    file_name: str | None
    status: TaskStatus
    result: str | None
    document_id: int | None
    """What was made; after `Failure.DUPLICATE` what was there before, which may be hidden from us or in the trash."""
    is_in_trash: bool
    """Whether the document that stood in the way lies in the trash."""

    @property
    def is_done(self) -> bool:
        return self.status in (TaskStatus.SUCCESS, TaskStatus.FAILURE)

    @property
    def is_half_written(self) -> bool:
        """Failed a moment ago: the reason comes a little later."""
        return self.status is TaskStatus.FAILURE and (self.result or "").startswith(_HALF_WRITTEN)

    @property
    def failure(self) -> Failure | None:
        """Why it failed; nothing of a task that did not."""
        if self.status is not TaskStatus.FAILURE:
            return None
        if self.document_id is not None:
            return Failure.DUPLICATE
        return Failure.MOMENTARY if _is_momentary(self.result or "") else Failure.OF_THE_FILE

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        result = row["result"]
        copies = row.get("duplicate_documents") or []
        return cls(
            id=int(row["id"]),
            task_id=row["task_id"],
            file_name=row["task_file_name"],
            status=_status(row["status"]),
            result=None if result is None else str(result),
            document_id=_document_id(row["related_document"], str(result or "")),
            is_in_trash=_IN_TRASH in str(result or "") or any(copy.get("deleted_at") for copy in copies),
        )


def _status(text: str) -> TaskStatus:
    """Celery has more of them: a revoked task is over, every other one is not."""
    if text in ("REVOKED", "REJECTED", "IGNORED"):
        return TaskStatus.FAILURE
    return TaskStatus(text) if text in TaskStatus.__members__ else TaskStatus.STARTED


def _document_id(related: object, result: str) -> int | None:
    """A string on 2.x, a number on 3.x; of a copy in the trash 2.x tells it in the sentence alone."""
    if related is not None:
        return int(str(related))
    found = _DUPLICATE.search(result)
    return int(found[1]) if found else None


def _is_momentary(result: str) -> bool:
    return not result or any(text in result for text in _MOMENTARY)
