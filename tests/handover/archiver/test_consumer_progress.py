"""An upload is lost only if Paperless has finished later ones, and that long ago."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from muniment.handover.archiver.consumer_progress import ConsumerProgress
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.models import ConsumeTask, TaskStatus
from tests.handover.archiver.fakes import FakeClock

DEADLINE = timedelta(hours=24)
QUEUED = timedelta(hours=48)
"""Age of the upload."""


class ListedTasks(PaperlessClient):
    """Client whose server has these tasks."""

    def __init__(self, tasks: Sequence[ConsumeTask]) -> None:
        self._tasks = tasks

    async def list_tasks(self) -> list[ConsumeTask]:
        return list(self._tasks)


def a_task(created_at: datetime, done_at: datetime | None) -> ConsumeTask:
    return ConsumeTask(1, "task", "file.pdf", TaskStatus.SUCCESS, None, 1, False, created_at, done_at)


@pytest.mark.parametrize(
    ("created_hours_ago", "done_hours_ago", "is_skipped"),
    [(49, 47, False), (47, 25, True), (47, 23, False), (47, None, False)],
    ids=["queued before it", "queued later and done long ago", "done a short time ago", "not done"],
)
async def test_only_a_later_task_that_was_finished_long_ago_shows_that_an_upload_was_skipped(
    created_hours_ago: float, done_hours_ago: float | None, is_skipped: bool
) -> None:
    clock = FakeClock()
    now = clock.now()
    done_at = None if done_hours_ago is None else now - timedelta(hours=done_hours_ago)
    tasks = [a_task(now - timedelta(hours=created_hours_ago), done_at)]

    progress = ConsumerProgress(ListedTasks(tasks), clock, DEADLINE)

    assert await progress.has_skipped(now - QUEUED) is is_skipped
