"""Ports of the background tasks: the queue of jobs, and the engine that installs it and runs workers.

A job is a row written by the caller's transaction: without a commit there is no job.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol
from uuid import UUID

import psycopg
from sqlalchemy import Connection

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

FAST, READING, EMBEDDING, MAINTENANCE, NIGHTLY = "fast", "reading", "embedding", "maintenance", "nightly"
"""Queues for known content, unknown content, vectors, sweeps and slow sweeps. Each has its own slots, so that none
waits for another."""
SWEEP_QUEUES = (MAINTENANCE, NIGHTLY)


@dataclass(frozen=True)
class RunRequest:
    """Purpose and options of a run: the first reading of a document, or a `reread` of a completed one."""

    purpose: str = "first"
    force: bool = False
    algorithm_version: int | None = None


FIRST_RUN = RunRequest()


class RevokeReason(StrEnum):
    """Reason why a run was ended early, as shown to users."""

    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class QueueHealth:
    """Workers with a recent heartbeat, and jobs of documents that wait for one."""

    live_workers: int
    waiting_jobs: int


class TaskQueue(Protocol):
    """Jobs of processing runs. Every call works in the caller's transaction. Job ids are text, whatever the engine."""

    async def enqueue_run(
        self, work: Work[Any], document_id: UUID, epoch: int, request: RunRequest = FIRST_RUN
    ) -> UUID:
        """Create a run of this document at this epoch, queue it, and return the id of the run."""

    async def enqueue_embedding(
        self,
        work: Work[Service],
        artifact_text_id: UUID,
        fingerprint: str,
        *,
        passages: int,
        request: RunRequest = FIRST_RUN,
    ) -> None:
        """Queue the computation of an artifact's vectors, unless it waits already. Large texts go after small ones,
        and those of rereads last."""

    async def requeue_embedding(
        self, work: Work[Service], artifact_text_id: UUID, fingerprint: str, *, passages: int
    ) -> None:
        """Queue an overdue computation again, instead of the job of a worker that died."""

    async def list_overdue_embeddings(
        self, work: Work[Service], *, stalled_after: timedelta, unchanged_since: datetime
    ) -> Sequence[tuple[UUID, str]]:
        """Return artifacts of the organization, each with the fingerprint of an index that was stored before this time
        and whose vectors are missing, although it has neither a waiting job nor a worker with a recent heartbeat."""

    async def revoke_run(
        self, work: Work[Any], document_id: UUID, epoch: int, reason: RevokeReason = RevokeReason.SUPERSEDED
    ) -> bool:
        """Cancel the job of the run: a waiting job is deleted, a running one is asked to stop. Return `False` if the
        run had already ended."""

    async def requeue_run(self, work: Work[Service], run_id: UUID) -> None:
        """Queue a stalled run again. The caller holds the lock of its document."""

    async def list_stalled_runs(
        self,
        work: Work[Service],
        *,
        stalled_after: timedelta,
        unchanged_since: datetime,
        run_id: UUID | None = None,
    ) -> Sequence[UUID]:
        """Return the open runs of the organization, or this one of them, that have neither a waiting job nor a worker
        with a recent heartbeat, and have not changed since."""

    async def list_orphaned_jobs(self, work: Work[Service], unchanged_since: datetime) -> Sequence[str]:
        """Return the waiting jobs of the organization whose run has ended or is missing."""

    async def delete_orphaned_job(self, work: Work[Service], unchanged_since: datetime, job_id: str) -> bool:
        """Delete a waiting job if its run has still ended or is missing. Return whether it was deleted."""

    async def delete_jobs(self, work: Work[Service], job_ids: Sequence[str]) -> None:
        """Delete jobs, waiting ones included, with everything the queue stores about them. A running job is asked to
        stop, and stays until it has."""

    async def list_existing_jobs(self, work: Work[Service], job_ids: Sequence[str]) -> Sequence[str]:
        """Return those of the jobs that the queue still has."""

    async def health(self, work: Work[Service], *, stalled_after: timedelta) -> QueueHealth:
        """Count the workers with a recent heartbeat and the waiting jobs of documents."""


class Turn(Protocol):
    """The time for which a job may hold its slot while others wait."""

    async def is_over(self) -> bool:
        """Return whether the job should raise `GiveUpSlot` now: an organization with fewer slots, which has used less
        time recently, waits for one, or a smaller document of the same organization. Cheap enough to be called after
        every page."""


class UnlimitedTurn:
    """Turn of a job that never has to give up its slot."""

    async def is_over(self) -> bool:
        return False


@dataclass(frozen=True)
class RunJob:
    """Content of a job: ids, never objects."""

    run_id: UUID
    organization_id: UUID
    queue: str
    turn: Turn = field(default_factory=UnlimitedTurn, compare=False)


RunHandler = Callable[[RunJob], Awaitable[None]]
"""Executes one run. It is cancelled when the run is revoked, and may raise `MoveToQueue`, `RetryLater` or
`GiveUpSlot`."""


@dataclass(frozen=True)
class EmbeddingJob:
    """Job that computes the vectors of an artifact under one variant. It is no reference to the artifact, which may be
    deleted meanwhile."""

    artifact_text_id: UUID
    fingerprint: str
    organization_id: UUID
    """Organization on whose behalf the vectors are computed."""
    attempts: int = 0
    """How often the job was requeued because of an error."""
    turn: Turn = field(default_factory=UnlimitedTurn, compare=False)


EmbeddingHandler = Callable[[EmbeddingJob], Awaitable[None]]
"""Computes vectors. It may raise `RetryLater` or `GiveUpSlot`; what it has stored stays."""


@dataclass(frozen=True)
class JobHandlers:
    """What a worker does with the jobs of documents."""

    run: RunHandler
    embed: EmbeddingHandler | None = None
    """Without it, jobs that compute vectors wait for another worker."""


class MoveToQueue(Exception):  # a request, not an error
    """The job belongs to another queue. There, jobs of the same content run one after the other."""

    def __init__(self, queue: str, *, content_key: str | None = None) -> None:
        super().__init__(queue)
        self.queue = queue
        self.content_key = content_key


class RetryLater(Exception):  # a request, not an error
    """The job must be tried again after so many seconds; its slot is free until then."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class GiveUpSlot(Exception):  # a request, not an error
    """The turn of another job has come. The job keeps its place in the queue, and this is not a failed attempt."""


@dataclass(frozen=True)
class PeriodicTask:
    """A sweep that exactly one of all workers runs at each time."""

    name: str
    cron: str
    """Cron expression that begins with seconds: `*/10 * * * * *` is every ten seconds."""
    run: Callable[[], Awaitable[None]]
    queue: str = MAINTENANCE


class TaskWorker(Protocol):
    """A worker of one engine."""

    async def run(self) -> None:
        """Run jobs until cancelled. An interrupted job is handed back, and a lost database connection restored."""


class TaskEngine(Protocol):
    """An engine of background tasks: its tables and its workers."""

    name: str

    def install_schema(self, connection: Connection) -> None:
        """Create or upgrade the tables of the engine, in the caller's transaction, as the owner of the schema."""

    def has_current_schema(self, connection: psycopg.Connection) -> bool:
        """Return whether the tables of the engine are those of this release. Missing tables raise `UndefinedTable`."""

    def build_worker(
        self,
        service: DatabaseAddress,
        *,
        handlers: JobHandlers | None,
        periodic: Sequence[PeriodicTask],
        concurrency: int,
        heartbeat: timedelta,
        stalled_after: timedelta,
    ) -> TaskWorker:
        """Build a worker that logs in at `service`. Without handlers it runs the periodic tasks only."""
