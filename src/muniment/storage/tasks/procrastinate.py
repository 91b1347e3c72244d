"""The queue in the same database, by Procrastinate."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from sqlalchemy import text

from muniment.errors import Unavailable
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import Work

ATTEMPTS = 3


class QueueUnavailable(Unavailable):
    """The task queue does not answer"""


class ProcrastinateTasks:
    """Through definer functions, so that the login of the requests needs no right on the queue's tables."""

    async def enqueue_run(self, work: Work[Any], document_id: UUID, epoch: int, *, purpose: str = "first") -> UUID:
        run_id = await work.session.scalar(
            text("SELECT enqueue_run(:document, :epoch, :purpose)"),
            {"document": document_id, "epoch": epoch, "purpose": purpose},
        )
        assert isinstance(run_id, UUID)
        return run_id

    async def revoke_run(self, work: Work[Any], document_id: UUID, epoch: int) -> bool:
        revoked = await work.session.scalar(
            text("SELECT revoke_run(:document, :epoch)"), {"document": document_id, "epoch": epoch}
        )
        return bool(revoked)


def queue_app(service: DatabaseAddress) -> App:
    """Procrastinate's own connections, as the service login."""
    app = App(connector=PsycopgConnector(conninfo=service.conninfo, min_size=1, max_size=8, timeout=10))
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


async def check_queue(app: App) -> None:
    try:
        if await app.check_connection_async():
            return
    except ConnectorException as error:
        raise QueueUnavailable(f"The task queue does not answer: {error}") from None
    raise QueueUnavailable("The task queue's tables are missing: run `muniment migrate`")
