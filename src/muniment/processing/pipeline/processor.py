"""Process one job: publish an existing artifact at once, or claim the run and execute the graph."""

import asyncio
from contextlib import suppress
from uuid import UUID

import structlog

from muniment.artifacts.tables import TextArtifact
from muniment.errors import Unavailable
from muniment.processing.pipeline.context import RunContext, RunServices
from muniment.processing.pipeline.graph import build_graph
from muniment.processing.pipeline.nodes.error_handling import MAX_CRASHES
from muniment.processing.pipeline.publishing import (
    complete_run,
    fail_run,
    log_completed,
    mark_started,
    pin_artifact,
    publish,
)
from muniment.processing.runs.repository import ClaimedRun, DocumentRecord, RunRepository, RunSuperseded
from muniment.processing.runs.tables import STEP_ORDER, StepStatus
from muniment.processing.sandbox.parent.job import ReaderKilled, memory_error
from muniment.storage.db.advisory_locks import document_lock_name
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.objects.async_io import run_to_completion
from muniment.storage.tasks.port import FAST, READING, MoveToQueue, RetryLater, RunJob

log = structlog.get_logger()

ALL_STEPS = dict.fromkeys(STEP_ORDER, StepStatus.SUCCESS)
DOCUMENT_LOCKED_RETRY_SECONDS = 2


class RunProcessor:
    """Processes the runs of a worker. A worker that died may have begun any of them before."""

    def __init__(self, services: RunServices) -> None:
        self._services = services
        self._graph = build_graph()

    async def __call__(self, job: RunJob) -> None:
        try:
            if job.queue == FAST:
                await self._publish_existing_artifact(job)
            else:
                await self._claim_and_run(job)
        except RunSuperseded:
            log.info("processing.superseded", run_id=str(job.run_id))

    async def _publish_existing_artifact(self, job: RunJob) -> None:
        """Publish an existing artifact in one transaction, without opening the file."""
        async with self._services.database.service_work(Service(job.organization_id)) as work:
            peeked = await RunRepository(work.session).peek(job.run_id)
            if peeked is None:
                return
            run, record = peeked
            artifact = await self._services.find_complete_artifact(work, run, record)
            if artifact is not None:
                await _publish_and_complete(work, job.run_id, artifact)
        if artifact is None:
            # Raised outside the block: after a rollback the driver forgets all prepared statements.
            raise MoveToQueue(READING)
        log_completed(run, pages=artifact.total_pages, unread_pages=len(artifact.problems))

    async def _claim_and_run(self, job: RunJob) -> None:
        async with self._services.database.service_work(Service(job.organization_id), durable=False) as work:
            claimed = await RunRepository(work.session).claim(job.run_id)
            if claimed is not None and claimed[0].failures >= MAX_CRASHES:
                reason = memory_error()
                await fail_run(work, claimed[0], step="ExtractText", code=reason.code, message=reason.message)
                return
        if claimed is not None:
            await self._run_graph(*claimed)

    async def _run_graph(self, run: ClaimedRun, record: DocumentRecord) -> None:
        try:
            # Shared with other workers of this document. A purge waits for all of them before it proves the document
            # gone: each write outside PostgreSQL follows a fence passed under this lock (docs/design.md#document-lock).
            async with self._services.locks.try_acquire(
                document_lock_name(run.document_id), is_shared=True
            ) as acquired:
                if not acquired:
                    raise RetryLater(DOCUMENT_LOCKED_RETRY_SECONDS)
                await self._graph.ainvoke({}, context=RunContext(self._services, run, record))
        except (RetryLater, Unavailable, asyncio.CancelledError) as reason:
            # Back to the queue. A run that stays `in_progress` was left by a worker that died.
            await run_to_completion(self._requeue(run, has_failed=isinstance(reason, ReaderKilled)))
            raise

    async def _requeue(self, run: ClaimedRun, *, has_failed: bool) -> None:
        with suppress(Unavailable):
            async with self._services.database.service_work(Service(run.organization_id), durable=False) as work:
                await RunRepository(work.session).requeue(run, has_failed=has_failed)


async def _publish_and_complete(work: Work[Service], run_id: UUID, artifact: TextArtifact) -> None:
    claimed = await RunRepository(work.session).claim(run_id)
    if claimed is None:
        raise RunSuperseded
    run, _ = claimed
    await RunRepository(work.session).record_steps(run, ALL_STEPS)
    await mark_started(work, run)
    is_shown = await pin_artifact(work, run, artifact, is_reused=True)
    await publish(work, run, artifact.id, has_diagrams=is_shown)
    await complete_run(work, run)
