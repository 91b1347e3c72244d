"""State of one job in a pass: its versioned sidecar, and the errors that end it early.

Updates of a sidecar are compare-and-swap, so that concurrent writers never overwrite each other.

JobRejected   it can never be archived as it is: move it to the dead letters with this reason
JobFailed     it failed this time; whether that counts is decided at the end of the pass
JobDeferred   nobody is at fault: the next pass takes it up
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from muniment.errors import Conflict, MunimentError
from muniment.handover.job_key import JobKey
from muniment.handover.sidecar import Sidecar, parse_sidecar
from muniment.storage.objects.port import VersionedObjectStore


class JobRejected(MunimentError):
    """The document cannot be sent to Paperless"""


class JobFailed(MunimentError):
    """Sending to Paperless failed"""

    def __init__(self, message: str, *, is_job_fault: bool = False, discards_attempt: bool = False) -> None:
        super().__init__(message)
        self.is_job_fault = is_job_fault
        """It is this job that fails, whatever becomes of others."""
        self.discards_attempt = discards_attempt
        """What was uploaded came to nothing, for certain."""


class JobDeferred(MunimentError):
    """The next pass will continue"""


class SidecarChanged(Conflict):
    """The job was changed in the meantime. The next pass will continue"""


@dataclass
class VersionedSidecar:
    """A sidecar as it lies in the queue."""

    queue: VersionedObjectStore
    key: JobKey
    sidecar: Sidecar
    version: str

    @classmethod
    async def load(cls, queue: VersionedObjectStore, key: JobKey) -> "VersionedSidecar":
        """`ObjectNotFound` or `InvalidSidecar` if there is none that can be read."""
        held = await queue.get(key.sidecar)
        return cls(queue, key, parse_sidecar(held.data), held.version)

    async def start_attempt(self) -> None:
        """From here on a document may be in Paperless, under this name. `Changed` if it was taken back or rewritten."""
        attempt = uuid4().hex
        name = f"{self.sidecar.document_type}-{self.key.sha256[:12]}-{attempt}.pdf"
        await self._replace(attempt_id=attempt, file_name=name, task_id=None, uploaded_at=None)

    async def record_task(self, task_id: str, at: datetime) -> None:
        """`Changed` if a producer or another archiver wrote the sidecar in the meantime."""
        await self._replace(task_id=task_id, uploaded_at=at)

    async def record_failure(self, error: str, *, counts: bool, now: datetime, discards_attempt: bool = False) -> None:
        """`lastAttemptAt` is that of the last attempt that counted: a job alone in the queue counts once a day."""
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
