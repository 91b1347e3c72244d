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
from muniment.handover.sidecar import Sidecar, parse
from muniment.storage.objects.port import QueueStore


class Dead(MunimentError):
    """The document cannot be sent to Paperless"""


class Failed(MunimentError):
    """Sending to Paperless failed"""

    def __init__(self, message: str, *, is_certain: bool = False, forgets_attempt: bool = False) -> None:
        super().__init__(message)
        self.is_certain = is_certain
        """It is this job that fails, whatever becomes of others."""
        self.forgets_attempt = forgets_attempt
        """What was uploaded came to nothing, for certain."""


class Left(MunimentError):
    """The next pass will continue"""


class Changed(Conflict):
    """Somebody else has the job: the next pass looks again"""


@dataclass
class Noted:
    """A sidecar as it lies in the queue."""

    queue: QueueStore
    key: JobKey
    sidecar: Sidecar
    version: str

    @classmethod
    async def read(cls, queue: QueueStore, key: JobKey) -> "Noted":
        """`BlobNotFound` or `InvalidSidecar` if there is none that can be read."""
        held = await queue.get(key.sidecar)
        return cls(queue, key, parse(held.data), held.version)

    async def begin(self) -> None:
        """From here on a document may be in Paperless, under this name. `Changed` if it was taken back or rewritten."""
        attempt = uuid4().hex
        name = f"{self.sidecar.document_type}-{self.key.sha256[:12]}-{attempt}.pdf"
        await self._write(attempt_id=attempt, file_name=name, task_id=None, uploaded_at=None)

    async def uploaded(self, task_id: str, at: datetime) -> None:
        """`Changed` if a producer or another archiver wrote the sidecar in the meantime."""
        await self._write(task_id=task_id, uploaded_at=at)

    async def failed(self, error: str, *, counts: bool, now: datetime, forgets_attempt: bool = False) -> None:
        """`lastAttemptAt` is that of the last attempt that counted: a job alone in the queue counts once a day."""
        sidecar = self.sidecar
        changes: dict[str, Any] = {"last_error": error}
        if counts:
            changes |= {"retry_count": sidecar.retry_count + 1, "last_attempt_at": now}
        if forgets_attempt:
            changes |= {"attempt_id": None, "file_name": None, "task_id": None, "uploaded_at": None}
        if replace(sidecar, **changes) != sidecar:
            await self._write(**changes)

    async def _write(self, **changes: Any) -> None:
        sidecar = replace(self.sidecar, **changes)
        version = await self.queue.put_if(self.key.sidecar, sidecar.to_bytes(), version=self.version)
        if version is None:
            raise Changed
        self.sidecar, self.version = sidecar, version
