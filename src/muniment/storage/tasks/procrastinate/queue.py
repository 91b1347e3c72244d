"""Queue of runs in Procrastinate's tables: SQL in the caller's transaction, without loading Procrastinate."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import FIRST_RUN, QueueHealth, RevokeReason, RunRequest, TaskQueue

_ENQUEUE = text("SELECT enqueue_run(:document, :epoch, :purpose, :force, :algorithm_version)")
_ENQUEUE_EMBEDDING = text("SELECT enqueue_embedding(:artifact, :fingerprint, :organization, :passages, :purpose)")
_OVERDUE_EMBEDDINGS = text(
    "SELECT artifact_text_id, fingerprint FROM list_overdue_embeddings(:unchanged_since, :stalled_after)"
)
_FAIL_RUNNING_EMBEDDING = text("""
    SELECT procrastinate_finish_job_v1(j.id, 'failed', true) FROM procrastinate_jobs j
     WHERE j.queueing_lock = format('embed %s %s', CAST(:artifact AS uuid), CAST(:fingerprint AS text))
       AND j.status = 'doing'
""")
_REVOKE = text("SELECT revoke_run(:document, :epoch, :reason)")
_CANCEL_ACTIVE = text("""
    SELECT procrastinate_cancel_job_v1(id, true, true) FROM procrastinate_jobs
     WHERE id = ANY (CAST(:ids AS bigint[])) AND status IN ('todo', 'doing')
""")
_DELETE_FINISHED = text("""
    DELETE FROM procrastinate_jobs WHERE id = ANY (CAST(:ids AS bigint[])) AND status NOT IN ('todo', 'doing')
""")
_EXISTING = text("SELECT CAST(id AS text) FROM procrastinate_jobs WHERE id = ANY (CAST(:ids AS bigint[]))")
_FAIL_RUNNING_JOB = text("""
    SELECT procrastinate_finish_job_v1(j.id, 'failed', true) FROM procrastinate_jobs j
     WHERE j.queueing_lock = CAST(:run_id AS text) AND j.status = 'doing'
""")
# As in `enqueue_run`: at most one job of a run waits. In the fast queue, which moves it if it has no artifact yet.
_DEFER_JOB = text("""
    SELECT set_run_job(r.run_id, (procrastinate_defer_jobs_v1(ARRAY[ROW(
               'fast', 'processing.run', run_job_priority(r.run_id), NULL, r.run_id::text,
               jsonb_build_object('run_id', r.run_id, 'organization_id', r.organization_id), NULL
           )]::procrastinate_job_to_defer_v1[]))[1])
      FROM open_runs r WHERE r.run_id = :run_id
""")
_STALLED_RUNS = """
    SELECT r.run_id FROM open_runs r
     WHERE r.updated_at < :unchanged_since
       AND NOT EXISTS (
           SELECT FROM procrastinate_jobs j WHERE j.id = r.job_id
              AND (j.status = 'todo' OR (j.status = 'doing' AND EXISTS (
                   SELECT FROM procrastinate_workers w
                    WHERE w.id = j.worker_id AND w.last_heartbeat > now() - CAST(:stalled_after AS interval)))))
"""
_LIST_STALLED = text(f"{_STALLED_RUNS} ORDER BY r.run_id")
_FIND_STALLED = text(f"{_STALLED_RUNS} AND r.run_id = :run_id")
_ORPHANED_JOBS = """
    SELECT CAST(j.id AS text) FROM procrastinate_jobs j
     WHERE j.task_name = 'processing.run' AND j.status = 'todo' AND j.args->>'organization_id' = :organization_id
       AND NOT EXISTS (SELECT FROM open_runs r WHERE r.run_id::text = j.args->>'run_id')
       AND NOT EXISTS (SELECT FROM procrastinate_events e WHERE e.job_id = j.id AND e.at >= :unchanged_since)
"""
_LIST_ORPHANED = text(f"{_ORPHANED_JOBS} ORDER BY j.id")
# Locked first: a worker that fetches the job at this moment keeps it.
_LOCK_ORPHANED = text(f"{_ORPHANED_JOBS} AND j.id = CAST(:job_id AS bigint) FOR UPDATE SKIP LOCKED")
_CANCEL_ORPHANED = text("SELECT procrastinate_cancel_job_v1(CAST(:job_id AS bigint), false, true)")
_HEALTH = text("""
    SELECT (SELECT count(*) FROM procrastinate_workers
             WHERE last_heartbeat > now() - CAST(:stalled_after AS interval)),
           (SELECT count(*) FROM procrastinate_jobs
             WHERE status = 'todo' AND queue_name NOT IN ('embedding', 'maintenance', 'nightly'))
""")


class ProcrastinateQueue(TaskQueue):
    """Jobs in Procrastinate's tables. Runs are queued and revoked through definer functions, so that the login of the
    requests needs no rights on these tables."""

    async def enqueue_run(
        self, work: Work[Any], document_id: UUID, epoch: int, request: RunRequest = FIRST_RUN
    ) -> UUID:
        run_id = await work.session.scalar(_ENQUEUE, {"document": document_id, "epoch": epoch, **asdict(request)})
        assert isinstance(run_id, UUID)
        return run_id

    async def enqueue_embedding(
        self,
        work: Work[Service],
        artifact_text_id: UUID,
        fingerprint: str,
        *,
        passages: int,
        request: RunRequest = FIRST_RUN,
    ) -> None:
        values = {
            "artifact": artifact_text_id,
            "fingerprint": fingerprint,
            "organization": work.caller.organization_id,
            "passages": passages,
            "purpose": request.purpose,
        }
        await work.session.execute(_ENQUEUE_EMBEDDING, values)

    async def requeue_embedding(
        self, work: Work[Service], artifact_text_id: UUID, fingerprint: str, *, passages: int
    ) -> None:
        key = {"artifact": artifact_text_id, "fingerprint": fingerprint}
        await work.session.execute(_FAIL_RUNNING_EMBEDDING, key)
        await self.enqueue_embedding(work, artifact_text_id, fingerprint, passages=passages)

    async def list_overdue_embeddings(
        self, work: Work[Service], *, stalled_after: timedelta, unchanged_since: datetime
    ) -> Sequence[tuple[UUID, str]]:
        values = {"unchanged_since": unchanged_since, "stalled_after": stalled_after}
        found = await work.session.execute(_OVERDUE_EMBEDDINGS, values)
        return [(artifact_text_id, fingerprint) for artifact_text_id, fingerprint in found]

    async def revoke_run(
        self, work: Work[Any], document_id: UUID, epoch: int, reason: RevokeReason = RevokeReason.SUPERSEDED
    ) -> bool:
        parameters = {"document": document_id, "epoch": epoch, "reason": str(reason)}
        return bool(await work.session.scalar(_REVOKE, parameters))

    async def requeue_run(self, work: Work[Service], run_id: UUID) -> None:
        await work.session.execute(_FAIL_RUNNING_JOB, {"run_id": run_id})
        await work.session.execute(_DEFER_JOB, {"run_id": run_id})

    async def list_stalled_runs(
        self,
        work: Work[Service],
        *,
        stalled_after: timedelta,
        unchanged_since: datetime,
        run_id: UUID | None = None,
    ) -> Sequence[UUID]:
        parameters = {"unchanged_since": unchanged_since, "stalled_after": stalled_after}
        if run_id is None:
            return (await work.session.scalars(_LIST_STALLED, parameters)).all()
        return (await work.session.scalars(_FIND_STALLED, {**parameters, "run_id": run_id})).all()

    async def list_orphaned_jobs(self, work: Work[Service], unchanged_since: datetime) -> Sequence[str]:
        return (await work.session.scalars(_LIST_ORPHANED, _orphan_parameters(work, unchanged_since))).all()

    async def delete_orphaned_job(self, work: Work[Service], unchanged_since: datetime, job_id: str) -> bool:
        for number in _numeric_ids([job_id]):
            parameters = {**_orphan_parameters(work, unchanged_since), "job_id": number}
            if await work.session.scalar(_LOCK_ORPHANED, parameters) is not None:
                await work.session.execute(_CANCEL_ORPHANED, {"job_id": number})
                return True
        return False

    async def delete_jobs(self, work: Work[Service], job_ids: Sequence[str]) -> None:
        # The row of a running job stays, because its worker must record the end of the job in it.
        for statement in (_CANCEL_ACTIVE, _DELETE_FINISHED):
            await work.session.execute(statement, {"ids": _numeric_ids(job_ids)})

    async def list_existing_jobs(self, work: Work[Service], job_ids: Sequence[str]) -> Sequence[str]:
        return (await work.session.scalars(_EXISTING, {"ids": _numeric_ids(job_ids)})).all()

    async def health(self, work: Work[Service], *, stalled_after: timedelta) -> QueueHealth:
        return QueueHealth(*(await work.session.execute(_HEALTH, {"stalled_after": stalled_after})).one())


def _numeric_ids(job_ids: Sequence[str]) -> list[int]:
    """Return the ids that can be Procrastinate's. It has no job with any other id."""
    return [int(job_id) for job_id in job_ids if job_id.isascii() and job_id.isdecimal()]


def _orphan_parameters(work: Work[Service], unchanged_since: datetime) -> dict[str, Any]:
    return {"organization_id": str(work.caller.organization_id), "unchanged_since": unchanged_since}
