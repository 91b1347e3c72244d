"""Procrastinate's connections and job manager, needed by workers only. Requests use `queue.py`, which needs neither."""

import json
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from psycopg_pool import AsyncConnectionPool

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import IDLE_SECONDS

MAX_ATTEMPTS = 3


def build_queue_app(service: DatabaseAddress, *, timeout: timedelta, idle_seconds: float = IDLE_SECONDS) -> App:
    """Procrastinate's own connections, as the service login."""
    connector = PsycopgConnector(
        pool_factory=partial(_build_pool, idle_seconds),
        configure=_use_autocommit,
        conninfo=service.conninfo,
        min_size=1,
        max_size=8,
        timeout=timeout.total_seconds(),
    )
    app = App(connector=connector)
    app.job_manager = RetryingJobManager(app.connector)
    return app


def _build_pool(rest_seconds: float, **arguments: Any) -> AsyncConnectionPool:
    """Asks a connection whether it lives only when it has rested; Procrastinate's would ask before each statement."""
    used_at: WeakKeyDictionary[psycopg.AsyncConnection, float] = WeakKeyDictionary()

    async def ping_after_rest(connection: psycopg.AsyncConnection) -> None:
        now = time.monotonic()
        if now - used_at.get(connection, now) > rest_seconds:
            await AsyncConnectionPool.check_connection(connection)
        used_at[connection] = now

    return AsyncConnectionPool(**{**arguments, "check": ping_after_rest})


async def _use_autocommit(connection: psycopg.AsyncConnection) -> None:
    """Each call of the queue is one statement: a transaction around it would be two more round trips."""
    await connection.set_autocommit(True)


class RetryingJobManager(JobManager):
    """Notes the end of a job although the connection breaks just then.

    Procrastinate gives up after one attempt. The job would stay `doing` in the name of a worker that lives, so that
    nobody ever takes it over: what asked to be put back or moved on would be lost.
    """

    async def finish_job_by_id_async(self, job_id: int, status: Status, delete_job: bool) -> None:
        await _with_reconnect(partial(super().finish_job_by_id_async, job_id, status, delete_job))

    async def retry_job_by_id_async(
        self,
        job_id: int,
        retry_at: datetime,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        await _with_reconnect(partial(super().retry_job_by_id_async, job_id, retry_at, priority, queue, lock))
        if queue is not None:
            await self._notify_queue(job_id, queue)

    async def _notify_queue(self, job_id: int, queue: str) -> None:
        """Procrastinate announces new jobs only: one that moved to another queue would wait until somebody looks."""
        payload = json.dumps({"type": "job_inserted", "job_id": job_id})
        await self.connector.execute_query_async(
            "SELECT pg_notify(%(channel)s, %(payload)s)",
            channel=f"procrastinate_queue_v1#{queue}",
            payload=payload,
        )


async def _with_reconnect(operation: Callable[[], Awaitable[None]]) -> None:
    for attempt in count(1):
        try:
            await operation()
        except ConnectorException as error:
            if attempt > 1 and isinstance(error.__cause__, psycopg.errors.RaiseException):
                return  # the one before went through, only its answer was lost
            if attempt == MAX_ATTEMPTS or not isinstance(error.__cause__, psycopg.OperationalError):
                raise
        else:
            return
