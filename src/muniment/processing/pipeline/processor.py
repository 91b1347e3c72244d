"""Process one job: publish an existing artifact at once, or claim the run and execute the graph."""

import asyncio
from contextlib import suppress
from uuid import UUID

import structlog

from muniment.artifacts.tables import FullText
from muniment.errors import Unavailable
from muniment.processing.pipeline.context import Context, Tools
from muniment.processing.pipeline.graph import build_graph
from muniment.processing.pipeline.nodes.error_handling import MAX_FAILURES
from muniment.processing.pipeline.publishing import attach, fail, find_wanted, mark_complete, mark_started, show
from muniment.processing.runs.repository import ClaimedRun, Record, RunRepository, Superseded
from muniment.processing.runs.tables import STEPS, StepStatus
from muniment.processing.sandbox.parent.job import ReaderKilled, too_large
from muniment.storage.db.advisory_locks import lock_of
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.objects.async_io import to_the_end
from muniment.storage.tasks.port import FAST, READING, MoveOn, PutBack, RunJob
from muniment.telemetry.metrics import ARTIFACTS

log = structlog.get_logger()

ALL_STEPS = dict.fromkeys(STEPS, StepStatus.SUCCESS)
BEING_REMOVED_SECONDS = 2


class Processing:
    """Carries out runs. Any of them may have been begun before, by a worker that died."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._graph = build_graph()

    async def __call__(self, job: RunJob) -> None:
        try:
            if job.queue == FAST:
                await self._finish_known(job)
            else:
                await self._read(job)
        except Superseded:
            log.info("processing.superseded", run_id=str(job.run_id))

    async def _finish_known(self, job: RunJob) -> None:
        """One transaction and a few statements, whatever the number of pages, without opening the file."""
        async with self._tools.database.service_work(Service(job.organization_id)) as work:
            found = await RunRepository(work.session).look(job.run_id)
            if found is None:
                return
            full = await self._find_known(work, *found)
            if full is not None:
                await _show_known(work, job.run_id, full)
        if full is None:
            # Not from within the block: with a rollback the driver forgets all statements that it had prepared.
            raise MoveOn(READING)
        run, _ = found
        ARTIFACTS.labels("hit").inc()
        log.info(
            "processing.completed", run_id=str(run.run_id), document_id=str(run.document_id), pages=full.total_pages
        )

    async def _find_known(self, work: Work[Service], run: ClaimedRun, record: Record) -> FullText | None:
        """What this run is to show, if nothing of it is left to be done."""
        full = await find_wanted(work, run, Context(self._tools, run, record).artifact_key(record.content_key))
        if full is None or self._tools.copies or await self._tools.indexing.list_missing(work, full.id):
            return None
        return full

    async def _read(self, job: RunJob) -> None:
        async with self._tools.database.service_work(Service(job.organization_id), lasting=False) as work:
            claimed = await RunRepository(work.session).claim(job.run_id)
            if claimed is not None and claimed[0].failures >= MAX_FAILURES:
                reason = too_large()
                await fail(work, claimed[0], step="ExtractText", code=reason.code, message=reason.message)
                return
        if claimed is not None:
            await self._carry_out(*claimed)

    async def _carry_out(self, run: ClaimedRun, record: Record) -> None:
        try:
            # Shared with other workers of this document. Whoever proves it gone waits for all of them: every write
            # outside PostgreSQL comes after a fence that was passed under this lock (DESIGN §5.4).
            async with self._tools.locks.attempt(lock_of(run.document_id), is_shared=True) as is_there:
                if not is_there:
                    raise PutBack(BEING_REMOVED_SECONDS)
                await self._graph.ainvoke({}, context=Context(self._tools, run, record))
        except (PutBack, Unavailable, asyncio.CancelledError) as reason:
            # It waits in the queue again. A run that nobody put back was left by a worker that died.
            await to_the_end(self._put_back(run, has_failed=isinstance(reason, ReaderKilled)))
            raise

    async def _put_back(self, run: ClaimedRun, *, has_failed: bool) -> None:
        with suppress(Unavailable):
            async with self._tools.database.service_work(Service(run.organization_id), lasting=False) as work:
                await RunRepository(work.session).put_back(run, has_failed=has_failed)


async def _show_known(work: Work[Service], run_id: UUID, full: FullText) -> None:
    claimed = await RunRepository(work.session).claim(run_id)
    if claimed is None:
        raise Superseded
    run, _ = claimed
    await RunRepository(work.session).enter_steps(run, ALL_STEPS)
    await mark_started(work, run)
    is_shown = await attach(work, run, full, was_known=True)
    await show(work, run, full.id, is_shown=is_shown)
    await mark_complete(work, run)
