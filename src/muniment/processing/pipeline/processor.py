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
    find_reusable_artifact,
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
from muniment.telemetry.metrics import ARTIFACTS

log = structlog.get_logger()

ALL_STEPS = dict.fromkeys(STEP_ORDER, StepStatus.SUCCESS)
DOCUMENT_LOCKED_RETRY_SECONDS = 2


class RunProcessor:
    """Carries out runs. Any of them may have been begun before, by a worker that died."""

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
        """One transaction and a few statements, whatever the number of pages, without opening the file."""
        async with self._services.database.service_work(Service(job.organization_id)) as work:
            found = await RunRepository(work.session).peek(job.run_id)
            if found is None:
                return
            full = await self._find_complete_artifact(work, *found)
            if full is not None:
                await _publish_and_complete(work, job.run_id, full)
        if full is None:
            # Not from within the block: with a rollback the driver forgets all statements that it had prepared.
            raise MoveToQueue(READING)
        run, _ = found
        ARTIFACTS.labels("hit").inc()
        log.info(
            "processing.completed", run_id=str(run.run_id), document_id=str(run.document_id), pages=full.total_pages
        )

    async def _find_complete_artifact(
        self, work: Work[Service], run: ClaimedRun, record: DocumentRecord
    ) -> TextArtifact | None:
        """What this run is to show, if nothing of it is left to be done."""
        full = await find_reusable_artifact(
            work, run, RunContext(self._services, run, record).artifact_key(record.content_key)
        )
        if (
            full is None
            or self._services.index_copier
            or await self._services.installed_models.list_missing(work, full.id)
        ):
            return None
        return full

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
            # Shared with other workers of this document. Whoever proves it gone waits for all of them: every write
            # outside PostgreSQL comes after a fence that was passed under this lock (docs/design.md#document-lock).
            async with self._services.locks.try_acquire(
                document_lock_name(run.document_id), is_shared=True
            ) as is_there:
                if not is_there:
                    raise RetryLater(DOCUMENT_LOCKED_RETRY_SECONDS)
                await self._graph.ainvoke({}, context=RunContext(self._services, run, record))
        except (RetryLater, Unavailable, asyncio.CancelledError) as reason:
            # It waits in the queue again. A run that nobody put back was left by a worker that died.
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
