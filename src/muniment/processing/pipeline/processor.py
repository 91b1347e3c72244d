"""Process one job: publish an existing artifact at once, or claim the run and execute the graph."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

import structlog

from muniment.artifacts.tables import TextArtifact
from muniment.errors import Unavailable
from muniment.lifecycle.moves.automatic_revert import AutomaticRevert
from muniment.processing.pipeline.context import RunContext, RunServices, WaitForVectors
from muniment.processing.pipeline.embedding_jobs import ReadingActivity
from muniment.processing.pipeline.graph import build_graph
from muniment.processing.pipeline.isolation import GateTurn, IsolationGate
from muniment.processing.pipeline.nodes.error_handling import (
    PASS_THROUGH_ERRORS,
    RetryAfterInternalError,
    retry_internal_error,
)
from muniment.processing.pipeline.publishing import (
    complete_run,
    fail_run,
    log_completed,
    mark_started,
    pin_artifact,
    publish,
)
from muniment.processing.runs.deaths import (
    QUARANTINED,
    QUARANTINED_MESSAGE,
    died_in_isolation,
    holders,
    may_be_cleared_by_suspects,
    needs_isolation,
    suspicion_began,
)
from muniment.processing.runs.repository import ClaimedRun, DocumentRecord, RunRepository, RunSuperseded
from muniment.processing.runs.tables import STEP_ORDER, StepStatus
from muniment.processing.sandbox.parent.job import ReaderKilled
from muniment.storage.db.advisory_locks import document_lock_name
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import process_now
from muniment.storage.objects.async_io import run_to_completion
from muniment.storage.tasks.port import FAST, READING, GiveUpSlot, MoveToQueue, RetryLater, RunJob, Turn

log = structlog.get_logger()

ALL_STEPS = dict.fromkeys(STEP_ORDER, StepStatus.SUCCESS)
DOCUMENT_LOCKED_RETRY_SECONDS = 2


class _IsolationNeeded(Exception):  # rolls the claim back
    """The run must have its worker for itself."""


class RunProcessor:
    """Processes the runs of a worker. A worker that died may have begun any of them before."""

    def __init__(
        self, services: RunServices, gate: IsolationGate | None = None, activity: ReadingActivity | None = None
    ) -> None:
        self._services = services
        self._graph = build_graph()
        self._gate = gate or IsolationGate()
        self._activity = activity or ReadingActivity()

    async def __call__(self, job: RunJob) -> None:
        with self._activity.reading():
            await self._process(job)

    async def _process(self, job: RunJob) -> None:
        try:
            if job.queue == FAST:
                async with self._gate.ordinary():
                    await self._try_fast(job)
            elif not await self._run_beside_others(job):
                await self._run_isolated(job)
        except RunSuperseded:
            log.info("processing.superseded", run_id=str(job.run_id))

    async def _try_fast(self, job: RunJob) -> None:
        """Publish an existing artifact. After an internal error the graph tries again, which counts such errors."""
        try:
            await self._publish_existing_artifact(job)
        except (MoveToQueue, *PASS_THROUGH_ERRORS):
            raise
        except Exception as reason:
            log.error("processing.internal_error", run_id=str(job.run_id), exc_info=reason)
            raise MoveToQueue(READING) from None

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
            raise MoveToQueue(READING, content_key=record.content_key)
        log_completed(run, pages=artifact.total_pages, unread_pages=len(artifact.problems))

    async def _run_beside_others(self, job: RunJob) -> bool:
        """Claim the run and execute the graph. Return `False` if it must be isolated; then it is not claimed."""
        async with self._gate.ordinary() as is_awaited:
            try:
                claimed = await self._claim(job, is_isolated=False)
            except _IsolationNeeded:
                return False
            if claimed is not None:
                await self._run_graph(*claimed, GateTurn(job.turn, is_awaited))
        return True

    async def _run_isolated(self, job: RunJob) -> None:
        """Execute the graph while this process does nothing else, after processes died during the run."""
        async with self._gate.isolated() as is_awaited:
            claimed = await self._claim(job, is_isolated=True)
            if claimed is None:
                return
            log.warning("processing.isolated", run_id=str(job.run_id), deaths=len(claimed[0].deaths))
            try:
                await self._run_graph(*claimed, GateTurn(job.turn, is_awaited))
            finally:
                await run_to_completion(self._end_isolation(job))

    async def _end_isolation(self, job: RunJob) -> None:
        with suppress(Unavailable):  # then the next heartbeat tells
            async with self._services.database.service_work(Service(job.organization_id), durable=False) as work:
                await self._services.workers.set_isolating(work, is_isolating=False)

    async def _claim(self, job: RunJob, *, is_isolated: bool) -> tuple[ClaimedRun, DocumentRecord] | None:
        """Claim the run, or fail it if it died in isolation. Raise `_IsolationNeeded` after too many deaths."""
        workers = self._services.workers
        # A worker that claims an isolated run may die of it: the claim must be on the disk before.
        async with self._services.database.service_work(Service(job.organization_id), durable=is_isolated) as work:
            claimed = await RunRepository(work.session).claim(
                job.run_id, workers.worker_id, is_isolated=is_isolated, silence=workers.silence
            )
            if claimed is None:
                return None
            run, _ = claimed
            is_guilty = await self._is_guilty(work, run)
            if is_guilty:
                entry_ids = await _quarantine(work, run, self._services.automatic_revert)
            elif is_isolated:
                await workers.set_isolating(work, is_isolating=True)
            elif needs_isolation(run.deaths):
                raise _IsolationNeeded
        if is_guilty:
            await process_now(self._services.ledger, run.organization_id, entry_ids)
            return None
        return claimed

    async def _is_guilty(self, work: Work[Service], run: ClaimedRun) -> bool:
        """Return whether the run died in isolation, and no worker died that did not process it."""
        if not died_in_isolation(run.deaths, run.attempt):
            return False
        return not await self._services.workers.have_others_died(
            work,
            holders(run.deaths),
            suspicion_began(run.deaths),
            with_suspects=may_be_cleared_by_suspects(run.deaths),
        )

    async def _run_graph(self, run: ClaimedRun, record: DocumentRecord, turn: Turn) -> None:
        try:
            # Shared with other workers of this document. A purge waits for all of them before it proves the document
            # gone: each write outside PostgreSQL follows a fence passed under this lock (docs/design.md#document-lock).
            async with self._services.locks.open_group() as locks:
                if not await locks.try_add(document_lock_name(run.document_id), is_shared=True):
                    raise RetryLater(DOCUMENT_LOCKED_RETRY_SECONDS)
                await self._invoke_graph(RunContext(self._services, run, record, turn, locks=locks))
        except (GiveUpSlot, RetryLater, Unavailable, asyncio.CancelledError) as reason:
            # Back to the queue. A run that stays `in_progress` was left by a worker that died.
            await run_to_completion(self._requeue(run, reason))
            raise

    async def _invoke_graph(self, context: RunContext) -> None:
        try:
            await self._graph.ainvoke({}, context=context)
        except PASS_THROUGH_ERRORS:
            raise
        except Exception as reason:
            # Failing the run failed too. Without a retry it would stay in progress until the nightly reconciliation.
            retry_internal_error(context.run, reason)
            raise

    async def _requeue(self, run: ClaimedRun, reason: BaseException) -> None:
        has_yielded = isinstance(reason, GiveUpSlot | WaitForVectors)
        if has_yielded:
            event = "processing.waits_for_vectors" if isinstance(reason, WaitForVectors) else "processing.slot_given_up"
            log.info(event, run_id=str(run.run_id), document_id=str(run.document_id))
        with suppress(Unavailable):
            async with self._services.database.service_work(Service(run.organization_id), durable=False) as work:
                await RunRepository(work.session).requeue(
                    run,
                    has_reader_died=isinstance(reason, ReaderKilled),
                    has_internal_error=isinstance(reason, RetryAfterInternalError),
                    has_yielded=has_yielded,
                )


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


async def _quarantine(work: Work[Service], run: ClaimedRun, automatic_revert: AutomaticRevert) -> Sequence[UUID]:
    """Fail the run in the step in which it died. Return ledger entries to be processed after the commit."""
    log.error(
        "processing.quarantined",
        run_id=str(run.run_id),
        document_id=str(run.document_id),
        deaths=[str(death.process) for death in run.deaths],
    )
    step, _ = await RunRepository(work.session).find_state(run)
    return await fail_run(
        work,
        run,
        step=step or STEP_ORDER[0],
        code=QUARANTINED,
        message=QUARANTINED_MESSAGE,
        automatic_revert=automatic_revert,
    )
