"""Runs and jobs, and documents that wait for a run: whatever should be worked on must be in somebody's hands."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.reconcile.run_repository import Halted, HaltedRunRepository
from muniment.storage.db.work import Database
from muniment.storage.tasks.revival import forget_job, jobs_without_run, queue_again


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
