"""Find stalled runs, jobs without a run, and documents without a run.

Everything unfinished must be queued or in progress.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.events import DocumentRetried
from muniment.audit.log import AuditLog
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document
from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.tasks.port import FIRST, Tasks
from muniment.storage.tasks.procrastinate.queue import IS_ALIVE, forget_job, jobs_without_run, queue_again, stalled


@dataclass(frozen=True)
class Halted:
    run_id: UUID
    kb_id: UUID
    document_id: UUID


_HALTED = f"""
      FROM document_processing_runs r JOIN documents d ON d.id = r.document_id
     WHERE r.status IN ('queued', 'in_progress') AND r.updated_at < :settled_before AND NOT {IS_ALIVE}
"""


_LIST = text(f"""
    SELECT r.run_id, d.knowledge_base_id, d.id {_HALTED} AND d.knowledge_base_id = ANY(:kb_ids) ORDER BY r.run_id
""")


_HOLD = text(f"SELECT r.epoch = d.epoch {_HALTED} AND r.run_id = :run_id FOR NO KEY UPDATE OF d")


# As `revoke_run` ends it.
_END = text("""
    UPDATE document_processing_runs
       SET status = 'failed', ended_at = clock_timestamp(), updated_at = now(), artifact_text_id = NULL,
           error = jsonb_build_object('code', 'superseded', 'message', 'Somebody else has this document now')
     WHERE run_id = :run_id
""")


_WAITING = """
    SELECT d.id, d.knowledge_base_id, d.epoch,
           EXISTS (SELECT FROM document_processing_runs r WHERE r.document_id = d.id AND r.epoch = d.epoch)
      FROM documents d
     WHERE d.status IN ('pending', 'processing') AND d.updated_at < :settled_before
       AND NOT EXISTS (SELECT FROM document_processing_runs r
                        WHERE r.document_id = d.id AND r.epoch = d.epoch AND r.status IN ('queued', 'in_progress'))
"""


_LIST_WAITING = text(f"{_WAITING} AND d.knowledge_base_id = ANY(:kb_ids) ORDER BY d.id")


_HOLD_WAITING = text(f"{_WAITING} AND d.id = :document_id FOR NO KEY UPDATE OF d")


@dataclass(frozen=True)
class Waiting:
    """A document that waits for a run that nobody has queued, or that has ended."""

    document_id: UUID
    kb_id: UUID
    epoch: int
    had_run: bool
    """At this epoch, which cannot have another."""


class HaltedRunRepository:
    def __init__(self, session: AsyncSession, stalled_after: timedelta) -> None:
        self._session = session
        self._stalled = stalled(stalled_after)

    async def list_(self, kb_ids: Sequence[UUID], settled_before: datetime) -> Sequence[Halted]:
        values = {**self._stalled, "kb_ids": list(kb_ids), "settled_before": settled_before}
        return [Halted(*row) for row in await self._session.execute(_LIST, values)]

    async def hold(self, run_id: UUID, settled_before: datetime) -> bool | None:
        """With its document, until the transaction ends: whether the run is of the document's epoch; `None` when it
        goes on after all."""
        values = {**self._stalled, "run_id": run_id, "settled_before": settled_before}
        is_current: bool | None = await self._session.scalar(_HOLD, values)
        return is_current

    async def end_superseded(self, run_id: UUID) -> None:
        await self._session.execute(_END, {"run_id": run_id})


class WaitingDocumentRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(self, kb_ids: Sequence[UUID], settled_before: datetime) -> Sequence[Waiting]:
        values = {"kb_ids": list(kb_ids), "settled_before": settled_before}
        return [Waiting(*row) for row in await self._session.execute(_LIST_WAITING, values)]

    async def hold(self, document_id: UUID, settled_before: datetime) -> Waiting | None:
        values = {"document_id": document_id, "settled_before": settled_before}
        found = (await self._session.execute(_HOLD_WAITING, values)).one_or_none()
        return Waiting(*found) if found else None


@dataclass(frozen=True)
class StuckRuns:
    """Open runs without a job that waits or a worker that lives."""

    database: Database
    stalled_after: timedelta
    store: Store = Store.RUNS

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        for halted in await self._list(scope):
            yield Drift(self.store, Kind.STUCK, str(halted.run_id), halted.kb_id, halted.document_id)

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = {str(halted.run_id) for halted in await self._list(scope)}
        return [drift for drift in seen if drift.target in still]

    async def _list(self, scope: Scope) -> Sequence[Halted]:
        async with self.database.service_work(scope.service) as work:
            runs = HaltedRunRepository(work.session, self.stalled_after)
            return await runs.list_(scope.kb_ids, scope.settled_before)

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        """Queue it again: whoever claims it counts the worker that died, and gives up after too many of them."""
        run_id = UUID(drift.target)
        async with self.database.service_work(scope.service) as work:
            runs = HaltedRunRepository(work.session, self.stalled_after)
            is_current = await runs.hold(run_id, scope.settled_before)
            if is_current is None:
                return False
            await (queue_again(work, run_id) if is_current else runs.end_superseded(run_id))
        return True


@dataclass(frozen=True)
class IdleJobs:
    """Jobs that wait although their run has ended or is gone."""

    database: Database
    store: Store = Store.JOBS

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        for job_id in await self._list(scope):
            yield Drift(self.store, Kind.ORPHANED, str(job_id))

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = {str(job_id) for job_id in await self._list(scope)}
        return [drift for drift in seen if drift.target in still]

    async def _list(self, scope: Scope) -> Sequence[int]:
        if not scope.is_whole:
            return []
        async with self.database.service_work(scope.service) as work:
            return await jobs_without_run(work, scope.settled_before)

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        async with self.database.service_work(scope.service) as work:
            return await forget_job(work, scope.settled_before, int(drift.target))


@dataclass(frozen=True)
class WaitingDocuments:
    database: Database
    tasks: Tasks
    store: Store = Store.DOCUMENTS

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        for waiting in await self._list(scope):
            yield Drift(self.store, Kind.STUCK, str(waiting.document_id), waiting.kb_id, waiting.document_id)

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = {waiting.document_id for waiting in await self._list(scope)}
        return [drift for drift in seen if drift.document_id in still]

    async def _list(self, scope: Scope) -> Sequence[Waiting]:
        async with self.database.service_work(scope.service) as work:
            return await WaitingDocumentRepository(work.session).list_(scope.kb_ids, scope.settled_before)

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        assert drift.document_id is not None
        async with self.database.service_work(scope.service) as work:
            documents = WaitingDocumentRepository(work.session)
            waiting = await documents.hold(drift.document_id, scope.settled_before)
            if waiting is None:
                return False
            await self._queue(work, waiting)
        return True

    async def _queue(self, work: Work[Service], waiting: Waiting) -> None:
        epoch = waiting.epoch
        if waiting.had_run:
            epoch += 1  # one run an epoch; whoever ended the last one writes nothing any more
            this = update(Document).where(Document.id == waiting.document_id).values(epoch=epoch)
            await work.session.execute(this.execution_options(synchronize_session=False))
        document = await DocumentRepository(work.session).get(waiting.kb_id, waiting.document_id)
        event = DocumentRetried(document.id, document.kb_id, document.name, purpose=FIRST.purpose, force=False)
        await AuditLog(work).record(event)
        await self.tasks.enqueue_run(work, waiting.document_id, epoch, FIRST)
