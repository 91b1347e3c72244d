"""Procrastinate's side of the queue: what a worker needs. Requests do without it (`queue.py`)."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Status
from procrastinate.manager import JobManager

from muniment.storage.db.address import DatabaseAddress

ATTEMPTS = 3


def queue_app(service: DatabaseAddress, *, patience: timedelta) -> App:
    """Procrastinate's own connections, as the service login."""
    timeout = patience.total_seconds()
    app = App(connector=PsycopgConnector(conninfo=service.conninfo, min_size=1, max_size=8, timeout=timeout))
    app.job_manager = PatientJobManager(app.connector)
    return app


class PatientJobManager(JobManager):
    """Notes the end of a job although the connection breaks just then.

    Procrastinate gives up after one attempt. The job would stay `doing` in the name of a worker that lives, so that
    nobody ever takes it over: what asked to be put back or moved on would be lost.
    """

    async def finish_job_by_id_async(self, job_id: int, status: Status, delete_job: bool) -> None:
        await _noted(partial(super().finish_job_by_id_async, job_id, status, delete_job))

    async def retry_job_by_id_async(self, job_id: int, retry_at: datetime, *args: Any, **changes: Any) -> None:
        await _noted(partial(super().retry_job_by_id_async, job_id, retry_at, *args, **changes))


async def _noted(note: Callable[[], Awaitable[None]]) -> None:
    for attempt in count(1):
        try:
            await note()
        except ConnectorException as error:
            if attempt > 1 and isinstance(error.__cause__, psycopg.errors.RaiseException):
                return  # the one before went through, only its answer was lost
            if attempt == ATTEMPTS or not isinstance(error.__cause__, psycopg.OperationalError):
                raise
        else:
            return
