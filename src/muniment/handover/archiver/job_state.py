"""State of one job in a pass: its versioned sidecar, how it can end early, and its result.

JobEnded
├─ JobRejected      it can never be archived as it is: move it to the dead letters with this reason
├─ JobFailed        it failed this time; whether that counts is decided at the end of the pass
└─ JobDeferred      nothing is wrong with it: the next pass continues
   └─ SidecarChanged

These errors end the processing of a job wherever it is; `process_job` turns them into a `JobResult`.
Updates of a sidecar are compare-and-swap, so that concurrent writers never overwrite each other.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

from muniment.errors import MunimentError
from muniment.handover.job_key import JobKey
from muniment.handover.sidecar import Sidecar, parse_sidecar
from muniment.storage.objects.port import VersionedObjectStore


class JobEnded(MunimentError):
    """The job was not sent to Paperless"""


class JobRejected(JobEnded):
    """The document cannot be sent to Paperless"""


class JobFailed(JobEnded):
    """Sending to Paperless failed"""

    def __init__(
        self, message: str, *, is_job_fault: bool = False, discards_attempt: bool = False, is_upload_open: bool = False
    ) -> None:
        super().__init__(message)
        self.is_job_fault = is_job_fault
        """The failure counts against this job, whether or not other jobs succeed."""
        self.discards_attempt = discards_attempt
        """The upload certainly created no document."""
        self.is_upload_open = is_upload_open
        """Paperless has the file and may still process it: the failure never counts."""


class JobDeferred(JobEnded):
    """The next pass will continue"""


class SidecarChanged(JobDeferred):
    """The job was changed in the meantime. The next pass will continue"""


class JobAction(StrEnum):
    """What a pass did with a job. The values are log fields and keys of the report."""

    ARCHIVED = "archived"
    CLOSED = "closed"
    """Its document was already archived, and the rest of the job or its dead letter was deleted."""
    LEFT = "left"
    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    ORPHAN = "orphan"
    """Its PDF or its sidecar is missing."""


@dataclass(frozen=True)
class JobResult:
    """Result of one job in a pass, for the report, the metrics and the log."""

    key: JobKey
    action: JobAction
    sidecar: Sidecar | None = None
    started_at: datetime | None = None
    """Start of its processing. `None` for what was resolved at the end of a pass."""
    document_id: int | None = None
    error: str | None = None
    failure: JobFailed | None = None
    """Error of a failed job, until the end of the pass decides whether it counts."""

    @property
    def is_failed_in_pass(self) -> bool:
        """Whether the job failed while it was processed, and not only in the clean-up at the end."""
        return self.started_at is not None and self.action in (JobAction.FAILED, JobAction.DEAD_LETTER)


@dataclass
class VersionedSidecar:
    """A sidecar with its version in the queue."""

    queue: VersionedObjectStore
    key: JobKey
    sidecar: Sidecar
    version: str

    @classmethod
    async def load(cls, queue: VersionedObjectStore, key: JobKey) -> "VersionedSidecar":
        """Load the sidecar of a job. Raise `ObjectNotFound` or `InvalidSidecar` if there is none that can be read."""
        stored = await queue.get_versioned(key.sidecar)
        return cls(queue, key, parse_sidecar(stored.data), stored.version)

    async def start_attempt(self) -> None:
        """Record a new upload attempt. From here on Paperless may hold a document of this file name.

        Raise `SidecarChanged` if the job was cancelled or rewritten.
        """
        attempt = uuid4().hex
        name = f"{self.sidecar.document_type}-{self.key.sha256[:12]}-{attempt}.pdf"
        await self._replace(attempt_id=attempt, file_name=name, task_id=None, uploaded_at=None)

    async def record_task(self, task_id: str, at: datetime) -> None:
        """Record the task of the upload. Raise `SidecarChanged` if someone else wrote the sidecar in the meantime."""
        await self._replace(task_id=task_id, uploaded_at=at)

    async def record_hidden_document(self, document_id: int) -> None:
        """Record the document that Paperless created and hides from us, so that the file is never uploaded again."""
        if self.sidecar.paperless_document_id != document_id:
            await self._replace(paperless_document_id=document_id)

    async def record_failure(self, error: str, *, counts: bool, now: datetime, discards_attempt: bool = False) -> None:
        """Record a failure. `lastAttemptAt` is set only if it counts: a job alone in the queue counts once a day."""
        sidecar = self.sidecar
        changes: dict[str, Any] = {"last_error": error}
        if counts:
            changes |= {"retry_count": sidecar.retry_count + 1, "last_attempt_at": now}
        if discards_attempt:
            changes |= {"attempt_id": None, "file_name": None, "task_id": None, "uploaded_at": None}
        if replace(sidecar, **changes) != sidecar:
            await self._replace(**changes)

    async def _replace(self, **changes: Any) -> None:
        sidecar = replace(self.sidecar, **changes)
        version = await self.queue.put_if_match(self.key.sidecar, sidecar.to_bytes(), version=self.version)
        if version is None:
            raise SidecarChanged
        self.sidecar, self.version = sidecar, version
