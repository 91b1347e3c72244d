"""Procrastinate's connections and job manager, needed by workers only. Requests use `queue.py`, which needs neither."""

import json
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from psycopg_pool import AsyncConnectionPool
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import IDLE_SECONDS

MAX_ATTEMPTS = 3


def build_queue_app(service: DatabaseAddress, *, timeout: timedelta, idle_seconds: float = IDLE_SECONDS) -> App:
    """Build Procrastinate's app with its own connections, as the service login."""
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


def _build_pool(idle_seconds: float, **arguments: Any) -> AsyncConnectionPool:
    """Build a pool that pings a connection only if it was idle. Procrastinate's own pings before each statement."""
    used_at: WeakKeyDictionary[psycopg.AsyncConnection, float] = WeakKeyDictionary()

    async def ping_if_idle(connection: psycopg.AsyncConnection) -> None:
        now = time.monotonic()
        if now - used_at.get(connection, now) > idle_seconds:
            await AsyncConnectionPool.check_connection(connection)
        used_at[connection] = now

    return AsyncConnectionPool(**{**arguments, "check": ping_if_idle})


async def _use_autocommit(connection: psycopg.AsyncConnection) -> None:
    """Set autocommit: each call of the queue is one statement, and a transaction would cost two more round trips."""
    await connection.set_autocommit(True)


class RetryingJobManager(JobManager):
    """Job manager that records the end of a job even if the connection breaks at that moment.

    Procrastinate gives up after one attempt. The job would stay `doing` in the name of a live worker, so that no other
    worker ever takes it over, and a job that asked to be retried or moved would be lost.
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
        """Notify the workers of this queue: Procrastinate announces new jobs only, not moved ones."""
        payload = json.dumps({"type": "job_inserted", "job_id": job_id})
        await self.connector.execute_query_async(
            "SELECT pg_notify(%(channel)s, %(payload)s)",
            channel=f"procrastinate_queue_v1#{queue}",
            payload=payload,
        )


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
