"""Procrastinate worker: one loop per queue, each with its own slots, all on one event loop."""

import asyncio
import hashlib
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
    EMBEDDING,
    FAST,
    READING,
    SWEEP_QUEUES,
    EmbeddingJob,
    GiveUpSlot,
    JobHandlers,
    MoveToQueue,
    PeriodicTask,
    RetryLater,
    RunJob,
)
from muniment.storage.tasks.procrastinate.connector import build_queue_app
from muniment.storage.tasks.procrastinate.job_manager import GUESTS, FairJobManager, SlotTurn
from muniment.telemetry.metrics import JOB_SECONDS, JOBS
from muniment.telemetry.traces import span

log = structlog.get_logger()

RECONNECT_SECONDS = 1
# Procrastinate announces new jobs only: retried, moved and taken-over jobs are found by polling.
POLLING_SECONDS = 1
STALLED_CHECK_SECONDS = 5.0
RETENTION_HOURS = 7 * 24
SHUTDOWN_GRACE = timedelta(seconds=10)
CONNECT_TIMEOUT = timedelta(seconds=10)


class WorkerStopping(Exception):  # a request, not an error
    """The worker stops before the job is done. Another worker starts it again."""

    code = "ShuttingDown"


class RequeuePolicy(BaseRetryStrategy):
    """Retries a job only if it asks for that. Any other error ends the job; the run decides what can be retried."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, MoveToQueue):
            # Jobs of the same content have the same lock: only one of them runs at a time.
            return RetryDecision(queue=exception.queue, lock=_lock_name(exception.content_key))
        if isinstance(exception, RetryLater):
            return RetryDecision(retry_in={"seconds": exception.seconds})
        if isinstance(exception, GiveUpSlot):
            return RetryDecision(queue=job.queue)  # named, so that waiting workers are notified
        if isinstance(exception, WorkerStopping):
            return RetryDecision()
        if isinstance(exception, Unavailable):
            return RetryDecision(retry_in={"seconds": min(300, 2 ** min(8, job.attempts + 1))})
        return None


class ProcrastinateWorker:
    """Runs jobs until it is cancelled, and reconnects to a database that was unavailable."""

    def __init__(
        self,
        service: DatabaseAddress,
        *,
        handlers: JobHandlers | None,
        periodic: Sequence[PeriodicTask],
        concurrency: int,
        heartbeat: timedelta,
        stalled_after: timedelta,
        grace: timedelta = SHUTDOWN_GRACE,
        connect_timeout: timedelta = CONNECT_TIMEOUT,
    ) -> None:
        self._service = service
        self._handlers = handlers
        self._periodic = periodic
        # Without handlers, documents stay in their queues until a worker with them takes them.
        document_slots = {FAST: 1, READING: concurrency} if handlers else {}
        if handlers and handlers.embed:
            document_slots[EMBEDDING] = 1
        self._slots: Mapping[str, int] = {**document_slots, **dict.fromkeys(SWEEP_QUEUES, 1)}
        self._heartbeat = heartbeat
        self._stalled_after = stalled_after
        self._grace = grace
        self._connect_timeout = connect_timeout

    async def run(self) -> None:
        """Run jobs until cancelled."""
        while True:
            try:
                await self._run_connected()
            # Opening the pool raises the driver's error; the loops raise Procrastinate's, several at the same time.
            except* (ConnectorException, psycopg.OperationalError) as errors:
                log.warning("worker.database_unavailable", error=str(errors.exceptions[0]))
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _run_connected(self) -> None:
        app = self._build_app()
        async with app.open_async(), asyncio.TaskGroup() as loops:
            log.info("worker.started", queues=sorted(self._slots))
            loops.create_task(self._requeue_stalled_periodically(app))
            for queue, slots in self._slots.items():
                loops.create_task(self._run_queue(app, [queue], slots))
            if READING in self._slots:
                # A page can take minutes. Until a slot is given up, an organization that has none is a guest in a slot
                # beyond the ordinary ones.
                loops.create_task(self._run_queue(app, [READING, GUESTS], slots=1))

    async def _requeue_stalled_periodically(self, app: App) -> None:
        """Requeue the jobs of dead workers. Not a job itself, because a hanging sweep must not delay it."""
        while True:
            await requeue_stalled_jobs(app, self._stalled_after)
            await asyncio.sleep(min(STALLED_CHECK_SECONDS, self._stalled_after.total_seconds() / 2))

    async def _run_queue(self, app: App, queues: Sequence[str], slots: int) -> None:
        queue = queues[0]
        await app.run_worker_async(
            queues=queues,
            name=queues[-1],
            concurrency=slots,
            install_signal_handlers=False,
            # Sweeps fail whenever a store is unavailable: log and metrics show it, and rows would pile up.
            delete_jobs="always" if queue in SWEEP_QUEUES else "successful",
            fetch_job_polling_interval=POLLING_SECONDS,
            abort_job_polling_interval=1,
            shutdown_graceful_timeout=self._grace.total_seconds(),
            update_heartbeat_interval=self._heartbeat.total_seconds(),
            stalled_worker_timeout=self._stalled_after.total_seconds(),
        )
        # The database is unavailable: end the other loops too, so that all reconnect together.
        raise ConnectorException(f"the loop of {queue} ended")

    def _build_app(self) -> App:
        app = build_queue_app(self._service, timeout=self._connect_timeout)

        @app.task(name="processing.run", pass_context=True, retry=RequeuePolicy())
        async def run_document(context: JobContext, run_id: str, organization_id: str) -> None:
            manager = _fair_manager(app)
            assert context.job.id is not None  # it was claimed
            turn = SlotTurn(manager, context.job.id, context.job.queue, UUID(organization_id), context.job.priority)
            job = RunJob(UUID(run_id), UUID(organization_id), context.job.queue, turn)
            assert self._handlers is not None  # without handlers, the queues of documents are not served
            await _run_fairly("processing.run", context, manager, turn, partial(self._handlers.run, job))

        @app.task(name="index.embed", pass_context=True, retry=RequeuePolicy())
        async def embed_passages(
            context: JobContext, artifact_text_id: str, fingerprint: str, organization_id: str
        ) -> None:
            manager = _fair_manager(app)
            assert context.job.id is not None  # it was claimed
            turn = SlotTurn(manager, context.job.id, context.job.queue, UUID(organization_id), context.job.priority)
            job = EmbeddingJob(UUID(artifact_text_id), fingerprint, UUID(organization_id), context.job.attempts, turn)
            assert self._handlers is not None
            assert self._handlers.embed is not None  # without it, the queue is not served
            await _run_fairly("index.embed", context, manager, turn, partial(self._handlers.embed, job))

        for sweep in (*self._periodic, PeriodicTask("tasks.forget_old", "0 17 3 * * *", partial(delete_old_jobs, app))):
            _register_periodic(app, sweep)
        return app


async def delete_old_jobs(app: App) -> None:
    """Delete failed and stopped jobs after a week. The results are in the runs; the jobs are kept for inspection."""
    await app.job_manager.delete_old_jobs(
        nb_hours=RETENTION_HOURS, include_failed=True, include_cancelled=True, include_aborted=True
    )
    await _fair_manager(app).forget_old_usage()


def _fair_manager(app: App) -> FairJobManager:
    assert isinstance(app.job_manager, FairJobManager)  # set by `build_queue_app`
    return app.job_manager


def _lock_name(content_key: str | None) -> str | None:
    """Return the lock of a content, as in `enqueue_run`. A digest, because the queue must not hold the key itself."""
    return None if content_key is None else hashlib.sha256(content_key.encode()).hexdigest()


async def requeue_stalled_jobs(app: App, stalled_after: timedelta) -> None:
    """Requeue the jobs of workers without a recent heartbeat."""
    stalled = await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=stalled_after.total_seconds())
    for job in stalled:
        try:
            await _requeue_stalled_job(app, job)
        except ConnectorException as error:
            if not isinstance(error.__cause__, psycopg.errors.RaiseException):
                raise
            continue  # another worker has requeued it
        log.warning("tasks.stalled_job_requeued", job_id=job.id, task=job.task_name)


async def _requeue_stalled_job(app: App, job: Job) -> None:
    if job.queue in SWEEP_QUEUES:
        # The next sweep of this name does the work. It may already wait, and two of one name cannot.
        await app.job_manager.finish_job(job, status=Status.FAILED, delete_job=True)
    else:
        await app.job_manager.retry_job(job)


def _register_periodic(app: App, sweep: PeriodicTask) -> None:
    async def run(context: JobContext, timestamp: int) -> None:
        del timestamp  # every sweep works on the current state
        await _run_instrumented(sweep.name, context, sweep.run, on_shutdown=JobAborted)

    # At most one of a name waits: missed sweeps are not repeated.
    task = app.task(name=sweep.name, queue=sweep.queue, queueing_lock=sweep.name, pass_context=True)(run)
    app.periodic(cron=to_procrastinate_cron(sweep.cron))(task)


def to_procrastinate_cron(cron: str) -> str:
    """Move the seconds to the end, where Procrastinate expects them."""
    seconds, *others = cron.split()
    return " ".join((*others, seconds))


async def _run_fairly(
    task: str, context: JobContext, manager: FairJobManager, turn: SlotTurn, work: Callable[[], Awaitable[None]]
) -> None:
    """Run the job of an organization, charge it for its slot, and let it give up the slot."""

    async def charged() -> None:
        try:
            await work()
        finally:
            turn.end()

    try:
        await _run_instrumented(task, context, charged, on_shutdown=WorkerStopping)
    except GiveUpSlot:
        assert context.job.id is not None  # it was claimed
        manager.mark_given_up(context.job.id)
        raise


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
    except (MoveToQueue, RetryLater, GiveUpSlot):
        result = "put back"
        raise
    finally:
        JOBS.labels(task, result).inc()
        JOB_SECONDS.labels(task).observe(time.monotonic() - began)
        structlog.contextvars.unbind_contextvars("operation", "job_id")
