"""Job manager of Procrastinate workers: claims jobs fairly and records their end even if the connection breaks.

Procrastinate claims the job with the highest priority. Here the organization comes first (docs/design.md#fair-claims):
the functions of migrations 0035 and 0040 choose between organizations, and within one by deadline.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import psycopg
from procrastinate.connector import BaseConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from sqlalchemy.orm import Mapped, mapped_column
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from muniment.storage.db.base import Table
from muniment.storage.tasks.port import EMBEDDING, FAST, READING

MAX_ATTEMPTS = 3

FAIR_QUEUES = (FAST, READING, EMBEDDING)
GUESTS = "guests"
"""Second queue name of the loop that serves guests: organizations without a slot while others hold all of them. No job
is ever in this queue."""

TURN_CHECK_SECONDS = 0.5
"""How often the turn of a running job is checked."""

GUEST_SECONDS = 0.1
"""Shortest time between two searches for guests. Each job that begins or ends may make room for one, and a search after
each would cost as much as the claims themselves."""

CLAIM_SECONDS = 0.1
"""What a claim charges in advance (`claim_run_job`). A job that takes no longer is not charged again at its end."""

_CLAIM = """
SELECT id, status, task_name, priority, lock, queueing_lock, args, scheduled_at, queue_name, attempts, worker_id
  FROM claim_run_job(%(queue)s, %(worker_id)s, %(is_guest)s)
"""
_IS_TURN_OVER = "SELECT is_turn_over(%(queue)s, %(organization_id)s, %(seconds)s, %(priority)s) AS is_over"
_CHARGE = "SELECT charge_slot(%(queue)s, %(organization_id)s, %(seconds)s)"
# One round trip at the end of every job. The next job of the same content is announced with the commit: otherwise it
# would wait for a poll.
_FINISH = """
SELECT procrastinate_finish_job_v1(%(job_id)s, %(status)s, %(delete_job)s),
       CASE WHEN %(seconds)s::float8 > 0
            THEN charge_slot(%(queue)s, %(organization_id)s::uuid, %(seconds)s::float8) END,
       CASE WHEN %(has_lock)s::boolean THEN pg_notify(%(channel)s, %(payload)s) END
"""
_NOTIFY = "SELECT pg_notify(%(channel)s, %(payload)s)"
_UNCOUNT_ATTEMPT = "UPDATE procrastinate_jobs SET attempts = greatest(attempts - 1, 0) WHERE id = %(job_id)s"
_FORGET_USAGE = "DELETE FROM queue_usage WHERE charged_at < now() - interval '1 day'"


class QueueUsage(Table):
    """Time for which an organization has held slots of a queue recently."""

    __tablename__ = "queue_usage"

    queue: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    recent_seconds: Mapped[float]
    """As of `charged_at`. It fades with a time constant of one minute."""
    charged_at: Mapped[datetime]


@dataclass(frozen=True)
class Charge:
    """Time that a job has used since it was last charged, and its organization."""

    organization_id: UUID
    seconds: float


NO_CHARGE = Charge(UUID(int=0), 0.0)


class FairJobManager(JobManager):
    """Job manager that claims jobs fairly, and records the end of a job even if the connection breaks at that moment.

    Procrastinate gives up after one attempt to record it. The job would stay `doing` in the name of a live worker, so
    that no other worker ever takes it over, and a job that asked to be retried or moved would be lost.
    """

    def __init__(self, connector: BaseConnector) -> None:
        super().__init__(connector)
        self._given_up: set[int] = set()
        self._charges: dict[int, Charge] = {}
        self._next_guest_search = 0.0

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        queue, *others = queues or ("",)
        if queue not in FAIR_QUEUES:
            return await super().fetch_job(queues, worker_id)
        is_guest = GUESTS in others
        if is_guest:
            await self._wait_for_guest_search()
        row = await self.connector.execute_query_one_async(_CLAIM, queue=queue, worker_id=worker_id, is_guest=is_guest)
        return None if row["id"] is None else Job.from_row(row)

    async def _wait_for_guest_search(self) -> None:
        now = time.monotonic()
        begins_at = max(now, self._next_guest_search)
        self._next_guest_search = begins_at + GUEST_SECONDS
        await asyncio.sleep(begins_at - now)

    def mark_given_up(self, job_id: int) -> None:
        """Do not count the end of this job as an attempt: it gives up its slot to another organization."""
        self._given_up.add(job_id)

    def charge_at_end(self, job_id: int, charge: Charge) -> None:
        """Charge this together with the end of the job."""
        self._charges[job_id] = charge

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        assert job.id is not None  # it was claimed
        self._given_up.discard(job.id)
        charge = self._charges.pop(job.id, NO_CHARGE)
        values = {
            "job_id": job.id,
            "status": status.value,
            "delete_job": delete_job,
            "queue": job.queue,
            "organization_id": charge.organization_id,
            "seconds": charge.seconds,
            "has_lock": job.lock is not None,
            **_notification(job.id, job.queue),
        }
        await _with_reconnect(partial(self.connector.execute_query_async, _FINISH, **values))

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        if job.id is not None and (charge := self._charges.pop(job.id, None)) is not None:
            with suppress(ConnectorException):
                await self.charge(job.queue, charge.organization_id, charge.seconds)
        await super().retry_job(job, retry_at, priority, queue, lock)
        if queue is None:
            await self._announce_free_lock(job)

    async def _announce_free_lock(self, job: Job) -> None:
        """Notify the workers that the next job of the same content can run. Otherwise each would wait for a poll."""
        if job.lock is not None and job.id is not None:
            with suppress(ConnectorException):  # then the next poll finds it
                await self._notify_queue(job.id, job.queue)

    async def retry_job_by_id_async(
        self,
        job_id: int,
        retry_at: datetime,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        await _with_reconnect(partial(super().retry_job_by_id_async, job_id, retry_at, priority, queue, lock))
        if job_id in self._given_up:
            self._given_up.discard(job_id)
            await self.connector.execute_query_async(_UNCOUNT_ATTEMPT, job_id=job_id)
        if queue is not None:
            await self._notify_queue(job_id, queue)

    async def _notify_queue(self, job_id: int, queue: str) -> None:
        """Notify the workers of this queue: Procrastinate announces new jobs only, not moved ones."""
        await self.connector.execute_query_async(_NOTIFY, **_notification(job_id, queue))

    async def is_turn_over(self, queue: str, organization_id: UUID, seconds: float, *, priority: int) -> bool:
        """Charge these seconds to the organization, and return whether its job of this priority should give up its
        slot."""
        row = await self.connector.execute_query_one_async(
            _IS_TURN_OVER, queue=queue, organization_id=organization_id, seconds=seconds, priority=priority
        )
        return bool(row["is_over"])

    async def charge(self, queue: str, organization_id: UUID, seconds: float) -> None:
        """Charge these seconds to the organization."""
        await self.connector.execute_query_async(_CHARGE, queue=queue, organization_id=organization_id, seconds=seconds)

    async def forget_old_usage(self) -> None:
        """Delete the usage of organizations that have processed nothing for a day."""
        await self.connector.execute_query_async(_FORGET_USAGE)


class SlotTurn:
    """Turn of a running job. What it has used is charged with each check and at its end."""

    def __init__(self, manager: FairJobManager, job_id: int, queue: str, organization_id: UUID, priority: int) -> None:
        self._manager = manager
        self._job_id = job_id
        self._queue = queue
        self._priority = priority
        self._organization_id = organization_id
        self._charged_at = time.monotonic()

    async def is_over(self) -> bool:
        """Return whether another job should have the slot; without asking if that was asked just now."""
        seconds = time.monotonic() - self._charged_at
        if seconds < TURN_CHECK_SECONDS:
            return False
        self._charged_at += seconds
        try:
            return await self._manager.is_turn_over(
                self._queue, self._organization_id, seconds, priority=self._priority
            )
        except ConnectorException:  # the job goes on; its next transaction finds out whether the database is back
            return False

    def end(self) -> None:
        """Charge what was used since the last check: a file of one page never asks."""
        seconds = time.monotonic() - self._charged_at - CLAIM_SECONDS
        if seconds > 0:
            self._manager.charge_at_end(self._job_id, Charge(self._organization_id, seconds))


def _notification(job_id: int, queue: str) -> dict[str, str]:
    """Return what Procrastinate sends to the workers of a queue when a job is inserted."""
    payload = json.dumps({"type": "job_inserted", "job_id": job_id})
    return {"channel": f"procrastinate_queue_v1#{queue}", "payload": payload}


async def _with_reconnect(operation: Callable[[], Awaitable[None]]) -> None:
    async for attempt in AsyncRetrying(
        stop=stop_after_attempt(MAX_ATTEMPTS), retry=retry_if_exception(_is_connection_loss), reraise=True
    ):
        with attempt:
            try:
                await operation()
            except ConnectorException as error:
                # In a repetition: the attempt before succeeded, and only its response was lost.
                is_done = isinstance(error.__cause__, psycopg.errors.RaiseException)
                if attempt.retry_state.attempt_number == 1 or not is_done:
                    raise


def _is_connection_loss(error: BaseException) -> bool:
    return isinstance(error, ConnectorException) and isinstance(error.__cause__, psycopg.OperationalError)
