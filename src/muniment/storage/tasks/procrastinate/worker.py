"""A worker process: one loop per queue, each with its own slots, all on one event loop."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

import psycopg
import structlog
from procrastinate import App, BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.exceptions import ConnectorException, JobAborted
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job, Status

from muniment.errors import Unavailable
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.tasks.port import (
    FAST,
    READING,
    SWEEP_QUEUES,
    MoveToQueue,
    PeriodicTask,
    RetryLater,
    RunHandler,
    RunJob,
)
from muniment.storage.tasks.procrastinate.connector import build_queue_app
from muniment.telemetry.metrics import JOB_SECONDS, JOBS
from muniment.telemetry.traces import span

log = structlog.get_logger()

RECONNECT_SECONDS = 1
# The queue announces new jobs only: what was put back, moved on or taken over is found by looking.
POLLING_SECONDS = 1
STALLED_CHECK_SECONDS = 5.0
RETENTION_HOURS = 7 * 24
SHUTDOWN_GRACE = timedelta(seconds=10)
CONNECT_TIMEOUT = timedelta(seconds=10)


class WorkerStopping(Exception):  # a request, not an error
    """The worker stops before the job is done: another one takes it from the start."""

    code = "ShuttingDown"


class RequeuePolicy(BaseRetryStrategy):
    """Only what asks to go back does. An error ends the job; the run itself knows what may be tried again."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, MoveToQueue):
            return RetryDecision(queue=exception.queue)
        if isinstance(exception, RetryLater):
            return RetryDecision(retry_in={"seconds": exception.seconds})
        if isinstance(exception, WorkerStopping):
            return RetryDecision()
        if isinstance(exception, Unavailable):
            return RetryDecision(retry_in={"seconds": min(300, 2 ** min(8, job.attempts + 1))})
        return None


class ProcrastinateWorker:
    """Runs until it is cancelled. A database that goes away and comes back is no reason to end."""

    def __init__(
        self,
        service: DatabaseAddress,
        *,
        handler: RunHandler | None,
        periodic: Sequence[PeriodicTask],
        concurrency: int,
        heartbeat: timedelta,
        stalled_after: timedelta,
        grace: timedelta = SHUTDOWN_GRACE,
        connect_timeout: timedelta = CONNECT_TIMEOUT,
    ) -> None:
        self._service = service
        self._handler = handler
        self._periodic = periodic
        # Without a reader nobody takes documents from their queues: they wait, and lose nothing by it.
        reading = {FAST: 1, READING: concurrency} if handler else {}
        self._slots: Mapping[str, int] = {**reading, **dict.fromkeys(SWEEP_QUEUES, 1)}
        self._heartbeat = heartbeat
        self._stalled_after = stalled_after
        self._grace = grace
        self._connect_timeout = connect_timeout

    async def run(self) -> None:
        while True:
            try:
                await self._run_connected()
            # Opening the pool raises the driver's own error, the loops raise Procrastinate's, several at a time.
            except* (ConnectorException, psycopg.OperationalError) as errors:
                log.warning("worker.database_away", error=str(errors.exceptions[0]))
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _run_connected(self) -> None:
        app = self._build_app()
        async with app.open_async(), asyncio.TaskGroup() as loops:
            log.info("worker.started", queues=sorted(self._slots))
            loops.create_task(self._requeue_stalled_periodically(app))
            for queue, slots in self._slots.items():
                loops.create_task(self._run_queue(app, queue, slots))

    async def _requeue_stalled_periodically(self, app: App) -> None:
        """Beside the queues and not in one: a sweep that hangs must not keep the dead from being noticed."""
        while True:
            await requeue_stalled_jobs(app, self._stalled_after)
            await asyncio.sleep(min(STALLED_CHECK_SECONDS, self._stalled_after.total_seconds() / 2))

    async def _run_queue(self, app: App, queue: str, slots: int) -> None:
        await app.run_worker_async(
            queues=[queue],
            name=queue,
            concurrency=slots,
            install_signal_handlers=False,
            # A sweep fails as often as its store is away: the log and the metrics tell, rows would pile up.
            delete_jobs="always" if queue in SWEEP_QUEUES else "successful",
            fetch_job_polling_interval=POLLING_SECONDS,
            abort_job_polling_interval=1,
            shutdown_graceful_timeout=self._grace.total_seconds(),
            update_heartbeat_interval=self._heartbeat.total_seconds(),
            stalled_worker_timeout=self._stalled_after.total_seconds(),
        )
        # Its database went away: end the others too, so that all begin anew together.
        raise ConnectorException(f"the loop of {queue} ended")

    def _build_app(self) -> App:
        app = build_queue_app(self._service, timeout=self._connect_timeout)

        @app.task(name="processing.run", pass_context=True, retry=RequeuePolicy())
        async def run_document(context: JobContext, run_id: str, organization_id: str) -> None:
            job = RunJob(UUID(run_id), UUID(organization_id), queue=context.job.queue)
            assert self._handler is not None  # without one, nobody listens to the queues of documents
            await _run_instrumented("processing.run", context, partial(self._handler, job), on_shutdown=WorkerStopping)

        for sweep in (*self._periodic, PeriodicTask("tasks.forget_old", "0 17 3 * * *", partial(delete_old_jobs, app))):
            _register_periodic(app, sweep)
        return app


async def delete_old_jobs(app: App) -> None:
    """What ended is told by the runs; the queue keeps failed and stopped jobs a week, for who wants to look."""
    await app.job_manager.delete_old_jobs(
        nb_hours=RETENTION_HOURS, include_failed=True, include_cancelled=True, include_aborted=True
    )


async def requeue_stalled_jobs(app: App, stalled_after: timedelta) -> None:
    """Hand the jobs of workers that fell silent to those that live."""
    stalled = await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=stalled_after.total_seconds())
    for job in stalled:
        try:
            await _requeue_stalled_job(app, job)
        except ConnectorException as error:
            if not isinstance(error.__cause__, psycopg.errors.RaiseException):
                raise
            continue  # another worker was faster
        log.warning("tasks.taken_over", job_id=job.id, task=job.task_name)


async def _requeue_stalled_job(app: App, job: Job) -> None:
    if job.queue in SWEEP_QUEUES:
        # The next sweep of its name does the work, and may wait already: two of one name cannot.
        await app.job_manager.finish_job(job, status=Status.FAILED, delete_job=True)
    else:
        await app.job_manager.retry_job(job)


def _register_periodic(app: App, sweep: PeriodicTask) -> None:
    async def run(context: JobContext, timestamp: int) -> None:
        del timestamp  # every sweep looks at what is there now
        await _run_instrumented(sweep.name, context, sweep.run, on_shutdown=JobAborted)

    # One waiting at most: a sweep that is late need not be made up for.
    task = app.task(name=sweep.name, queue=sweep.queue, queueing_lock=sweep.name, pass_context=True)(run)
    app.periodic(cron=to_procrastinate_cron(sweep.cron))(task)


def to_procrastinate_cron(cron: str) -> str:
    """As Procrastinate reads it: `*/5 * * * * *` would mean each second of every fifth minute."""
    seconds, *others = cron.split()
    return " ".join((*others, seconds))


async def _run_instrumented(
    task: str, context: JobContext, work: Callable[[], Awaitable[None]], *, on_shutdown: type[Exception]
) -> None:
    began, result = time.monotonic(), "error"
    structlog.contextvars.bind_contextvars(operation=task, job_id=context.job.id)
    try:
        with span(task):
            await work()
        result = "ok"
    except asyncio.CancelledError:
        result = "stopped"
        if context.abort_reason() is AbortReason.USER_REQUEST:
            raise JobAborted from None
        raise on_shutdown from None
    except (MoveToQueue, RetryLater):
        result = "put back"
        raise
    finally:
        JOBS.labels(task, result).inc()
        JOB_SECONDS.labels(task).observe(time.monotonic() - began)
        structlog.contextvars.unbind_contextvars("operation", "job_id")
