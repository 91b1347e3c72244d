"""Queue runs and revoke them in the caller's transaction; find and requeue stalled runs.

SQL on the queue's tables only.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import FIRST_RUN, RevokeReason, RunRequest

_CANCEL_ACTIVE = text("""
    SELECT procrastinate_cancel_job_v1(id, true, true) FROM procrastinate_jobs
     WHERE id = ANY (CAST(:ids AS bigint[])) AND status IN ('todo', 'doing')
""")


_DELETE_FINISHED = text("""
    DELETE FROM procrastinate_jobs WHERE id = ANY (CAST(:ids AS bigint[])) AND status NOT IN ('todo', 'doing')
""")


_EXISTING = text("SELECT id FROM procrastinate_jobs WHERE id = ANY (CAST(:ids AS bigint[]))")


_ENQUEUE = text("SELECT enqueue_run(:document, :epoch, :purpose, :force, :algorithm_version)")


_REVOKE = text("SELECT revoke_run(:document, :epoch, :reason)")


class ProcrastinateQueue:
    """Through definer functions, so that the login of the requests needs no right on the queue's tables."""

    async def enqueue_run(
        self, work: Work[Any], document_id: UUID, epoch: int, request: RunRequest = FIRST_RUN
    ) -> UUID:
        run_id = await work.session.scalar(_ENQUEUE, {"document": document_id, "epoch": epoch, **asdict(request)})
        assert isinstance(run_id, UUID)
        return run_id

    async def revoke_run(
        self, work: Work[Any], document_id: UUID, epoch: int, reason: RevokeReason = RevokeReason.SUPERSEDED
    ) -> bool:
        values = {"document": document_id, "epoch": epoch, "reason": str(reason)}
        revoked = await work.session.scalar(_REVOKE, values)
        return bool(revoked)

    async def delete_jobs(self, work: Work[Service], job_ids: Sequence[int]) -> None:
        # The row of one that runs is left to its worker: it could not note the end of its job otherwise.
        for statement in (_CANCEL_ACTIVE, _DELETE_FINISHED):
            await work.session.execute(statement, {"ids": list(job_ids)})

    async def list_existing_jobs(self, work: Work[Service], job_ids: Sequence[int]) -> Sequence[int]:
        return (await work.session.scalars(_EXISTING, {"ids": list(job_ids)})).all()


JOB_IS_ALIVE = """
    EXISTS (SELECT FROM procrastinate_jobs j WHERE j.id = r.job_id
               AND (j.status = 'todo' OR (j.status = 'doing' AND EXISTS (
                    SELECT FROM procrastinate_workers w
                     WHERE w.id = j.worker_id AND w.last_heartbeat > now() - CAST(:stalled_after AS interval)))))
"""
"""Whether the job of the run `r` waits, or is in the hands of a worker that lives."""


_FAIL_RUNNING_JOB = text("""
    SELECT procrastinate_finish_job_v1(j.id, 'failed', true) FROM procrastinate_jobs j
     WHERE j.queueing_lock = CAST(:run_id AS text) AND j.status = 'doing'
""")


# As `enqueue_run` does it: of one run, one job waits at most.
_DEFER_JOB = text("""
    UPDATE document_processing_runs r SET updated_at = now(), job_id = (procrastinate_defer_jobs_v1(ARRAY[ROW(
               'fast', 'processing.run', 0, NULL, r.run_id::text,
               jsonb_build_object('run_id', r.run_id, 'organization_id', r.organization_id), NULL
           )]::procrastinate_job_to_defer_v1[]))[1]
     WHERE r.run_id = :run_id
""")


_ORPHANED_JOBS = """
    SELECT j.id FROM procrastinate_jobs j
     WHERE j.task_name = 'processing.run' AND j.status = 'todo' AND j.args->>'organization_id' = :organization_id
       AND NOT EXISTS (SELECT FROM document_processing_runs r
                        WHERE r.run_id::text = j.args->>'run_id' AND r.status IN ('queued', 'in_progress'))
       AND NOT EXISTS (SELECT FROM procrastinate_events e WHERE e.job_id = j.id AND e.at >= :settled_before)
"""


_LIST_ORPHANED = text(f"{_ORPHANED_JOBS} ORDER BY j.id")


# Its lock first: a worker that takes it this moment keeps it.
_LOCK_ORPHANED = text(f"{_ORPHANED_JOBS} AND j.id = :job_id FOR UPDATE SKIP LOCKED")


_CANCEL_ORPHANED = text("SELECT procrastinate_cancel_job_v1(:job_id, false, true)")


async def requeue_run(work: Work[Any], run_id: UUID) -> None:
    """In the caller's transaction, which holds the run's document and has seen that nobody has its job."""
    await work.session.execute(_FAIL_RUNNING_JOB, {"run_id": run_id})
    await work.session.execute(_DEFER_JOB, {"run_id": run_id})


async def list_orphaned_jobs(work: Work[Any], settled_before: datetime) -> Sequence[int]:
    """Waiting jobs of the caller's organization that have nothing to do."""
    return (await work.session.scalars(_LIST_ORPHANED, _scope_parameters(work, settled_before))).all()


async def delete_orphaned_job(work: Work[Any], settled_before: datetime, job_id: int) -> bool:
    """Take it out of the queue, if it still has nothing to do."""
    if await work.session.scalar(_LOCK_ORPHANED, {**_scope_parameters(work, settled_before), "job_id": job_id}) is None:
        return False
    await work.session.execute(_CANCEL_ORPHANED, {"job_id": job_id})
    return True


def stalled_parameters(stalled_after: timedelta) -> dict[str, str]:
    """What `JOB_IS_ALIVE` wants to know."""
    return {"stalled_after": f"{stalled_after.total_seconds()} seconds"}


def _scope_parameters(work: Work[Any], settled_before: datetime) -> dict[str, Any]:
    return {"organization_id": str(work.caller.organization_id), "settled_before": settled_before}
