"""Find stalled runs, jobs without a run, and documents without a run.

Everything unfinished must be queued or in progress.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from muniment.audit.events import DocumentRetried
from muniment.audit.log import AuditLog
from muniment.documents.repository import DocumentRepository
from muniment.documents.runs import DocumentRunRepository, DocumentWithoutRun, DocumentWithoutRunRepository, OpenRun
from muniment.lifecycle.status import set_epoch
from muniment.reconcile.drift import Drift, DriftKind, ReconcileScope, StoreName
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.tasks.port import FIRST_RUN, TaskQueue


@dataclass(frozen=True)
class StalledRuns:
    """Check for open runs that have neither a waiting job nor a live worker."""

    database: Database
    tasks: TaskQueue
    stalled_after: timedelta
    store: StoreName = StoreName.RUNS

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        for stalled in await self._list(scope):
            yield Drift(self.store, DriftKind.STUCK, str(stalled.run_id), stalled.kb_id, stalled.document_id)

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = {str(stalled.run_id) for stalled in await self._list(scope)}
        return [drift for drift in seen if drift.target in still]

    async def _list(self, scope: ReconcileScope) -> Sequence[OpenRun]:
        async with self.database.service_work(scope.service) as work:
            run_ids = await self.tasks.list_stalled_runs(
                work, stalled_after=self.stalled_after, unchanged_since=scope.unchanged_since
            )
            return await DocumentRunRepository(work.session).list_open(scope.kb_ids, run_ids)

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        """Queue the run again. Claiming it records the death of its worker."""
        run_id = UUID(drift.target)
        async with self.database.service_work(scope.service) as work:
            runs = DocumentRunRepository(work.session)
            is_current = await runs.lock(run_id)
            # After the lock: the run may have continued while we waited for it.
            is_stalled = await self.tasks.list_stalled_runs(
                work, stalled_after=self.stalled_after, unchanged_since=scope.unchanged_since, run_id=run_id
            )
            if is_current is None or not is_stalled:
                return False
            await (self.tasks.requeue_run(work, run_id) if is_current else runs.fail_superseded(run_id))
        return True


@dataclass(frozen=True)
class OrphanedJobs:
    """Check for waiting jobs whose run has ended or is missing."""

    database: Database
    tasks: TaskQueue
    store: StoreName = StoreName.JOBS

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        for job_id in await self._list(scope):
            yield Drift(self.store, DriftKind.ORPHANED, job_id)

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = set(await self._list(scope))
        return [drift for drift in seen if drift.target in still]

    async def _list(self, scope: ReconcileScope) -> Sequence[str]:
        if not scope.covers_organization:
            return []
        async with self.database.service_work(scope.service) as work:
            return await self.tasks.list_orphaned_jobs(work, scope.unchanged_since)

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        async with self.database.service_work(scope.service) as work:
            return await self.tasks.delete_orphaned_job(work, scope.unchanged_since, drift.target)


@dataclass(frozen=True)
class DocumentsWithoutRun:
    database: Database
    tasks: TaskQueue
    store: StoreName = StoreName.DOCUMENTS

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        for document in await self._list(scope):
            yield Drift(self.store, DriftKind.STUCK, str(document.document_id), document.kb_id, document.document_id)

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = {document.document_id for document in await self._list(scope)}
        return [drift for drift in seen if drift.document_id in still]

    async def _list(self, scope: ReconcileScope) -> Sequence[DocumentWithoutRun]:
        async with self.database.service_work(scope.service) as work:
            return await DocumentWithoutRunRepository(work.session).list_(scope.kb_ids, scope.unchanged_since)

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        assert drift.document_id is not None
        async with self.database.service_work(scope.service) as work:
            documents = DocumentWithoutRunRepository(work.session)
            document = await documents.lock(drift.document_id, scope.unchanged_since)
            if document is None:
                return False
            await self._enqueue(work, document)
        return True

    async def _enqueue(self, work: Work[Service], stuck: DocumentWithoutRun) -> None:
        epoch = stuck.epoch
        if stuck.had_run:
            epoch += 1  # An epoch has at most one run. Raising it also fences off the worker of the last one.
            await set_epoch(work.session, stuck.document_id, epoch)
        document = await DocumentRepository(work.session).get(stuck.kb_id, stuck.document_id)
        event = DocumentRetried(document.id, document.kb_id, document.name, purpose=FIRST_RUN.purpose, force=False)
        await AuditLog(work).record(event)
        await self.tasks.enqueue_run(work, stuck.document_id, epoch, FIRST_RUN)
