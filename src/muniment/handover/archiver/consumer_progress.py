"""Progress of Paperless's task worker in one pass: whether it is stalled, and whether it has skipped an upload.

An upload that Paperless accepted is in progress until its task ends, however long that takes: a worker that was down
for days processes everything when it is back. Paperless processes tasks in their order, so that a task is lost only
when later ones have been finished for a long time (docs/contracts.md#archiver-pass).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from muniment.handover.archiver.clock import Clock
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.models import ConsumeTask

STALLED_AFTER = timedelta(hours=1)
"""Age of the oldest open upload from which a pass without any finished task means that the worker is stalled."""


@dataclass
class ConsumerProgress:
    """What one pass has seen of the tasks of its uploads."""

    paperless: PaperlessClient
    clock: Clock
    task_deadline: timedelta
    open_uploads: int = 0
    oldest_upload_at: datetime | None = None
    has_finished_task: bool = False
    _tasks: Sequence[ConsumeTask] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def record_finished(self) -> None:
        self.has_finished_task = True

    def record_open(self, uploaded_at: datetime) -> None:
        """Record an upload that Paperless has not processed yet."""
        self.open_uploads += 1
        self.oldest_upload_at = min(uploaded_at, self.oldest_upload_at or uploaded_at)

    async def has_skipped(self, queued_at: datetime) -> bool:
        """Return whether Paperless finished a task that was queued later, and that at least one deadline ago.

        The deadline allows for tasks that return to the queue after their worker was killed.
        """
        finished_before = self.clock.now() - self.task_deadline
        if queued_at > finished_before:
            return False
        return any(
            task.created_at is not None
            and task.done_at is not None
            and queued_at < task.created_at
            and task.done_at < finished_before
            for task in await self._list_tasks()
        )

    async def _list_tasks(self) -> Sequence[ConsumeTask]:
        async with self._lock:  # expensive: read once per pass, and only if an upload is overdue
            if self._tasks is None:
                self._tasks = await self.paperless.list_tasks()
        return self._tasks

    def describe_stall(self) -> str | None:
        """Return a message if the worker of Paperless seems to be stopped, otherwise `None`."""
        if self.oldest_upload_at is None:
            return None
        age = self.clock.now() - self.oldest_upload_at
        if age <= (self.task_deadline if self.has_finished_task else STALLED_AFTER):
            return None
        return (
            f"Paperless accepted files but does not process them: {self.open_uploads} are waiting, the oldest for "
            f"{round(age / timedelta(hours=1))} h. Check that its task worker and Redis are running."
        )
