"""Background work. A job is a row written by the caller's transaction: no commit, no job."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol
from uuid import UUID

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

FAST, READING, MAINTENANCE, NIGHTLY = "fast", "reading", "maintenance", "nightly"
"""Known content, unknown content, sweeps, and sweeps that take their time: each queue has slots of its own, so that
none waits behind another."""
SWEEP_QUEUES = (MAINTENANCE, NIGHTLY)


@dataclass(frozen=True)
class RunRequest:
    """What a run is for: the first reading, or a `reread` of a completed document."""

    purpose: str = "first"
    force: bool = False
    algorithm_version: int | None = None


FIRST_RUN = RunRequest()


class RevokeReason(StrEnum):
    """Why a run was ended before it was done, as its people read it."""

    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"


class TaskQueue(Protocol):
    async def enqueue_run(
        self, work: Work[Any], document_id: UUID, epoch: int, request: RunRequest = FIRST_RUN
    ) -> UUID:
        """Make a run of this document at this epoch and queue it, in the caller's transaction; the run's id."""

    async def revoke_run(
        self, work: Work[Any], document_id: UUID, epoch: int, reason: RevokeReason = RevokeReason.SUPERSEDED
    ) -> bool:
        """Cancel the run's job in the caller's transaction: a waiting one is gone, a running one is told to stop.
        `False` when it had ended already."""

    async def delete_jobs(self, work: Work[Service], job_ids: Sequence[int]) -> None:
        """Remove jobs with what the queue remembers of them, those that wait too; one that runs is told to stop, and
        stays until it has."""

    async def list_existing_jobs(self, work: Work[Service], job_ids: Sequence[int]) -> Sequence[int]:
        """Those of the jobs that the queue still knows."""


@dataclass(frozen=True)
class RunJob:
    """What a job carries: ids, never objects."""

    run_id: UUID
    organization_id: UUID
    queue: str


RunHandler = Callable[[RunJob], Awaitable[None]]
"""Carries out one run. It is cancelled when the run is revoked; it may raise `MoveToQueue` or `RetryLater`."""


class MoveToQueue(Exception):  # a request, not an error
    """This belongs to another queue."""

    def __init__(self, queue: str) -> None:
        super().__init__(queue)
        self.queue = queue


class RetryLater(Exception):  # a request, not an error
    """Not now: try again after so many seconds, and let others have the slot."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass(frozen=True)
class PeriodicTask:
    """A sweep. Of many workers, one runs it each time."""

    name: str
    cron: str
    """With seconds in front: `*/10 * * * * *` is every ten seconds."""
    run: Callable[[], Awaitable[None]]
    queue: str = MAINTENANCE
