"""Putting runs into the queue that lies in the same database, and taking them out again."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from sqlalchemy import text

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import FIRST, Revoked, RunWish

_STOP = text("""
    SELECT procrastinate_cancel_job_v1(id, true, true) FROM procrastinate_jobs
     WHERE id = ANY (CAST(:ids AS bigint[])) AND status IN ('todo', 'doing')
""")
_DELETE_FINISHED = text("""
    DELETE FROM procrastinate_jobs WHERE id = ANY (CAST(:ids AS bigint[])) AND status NOT IN ('todo', 'doing')
""")
_KNOWN = text("SELECT id FROM procrastinate_jobs WHERE id = ANY (CAST(:ids AS bigint[]))")
_ENQUEUE = text("SELECT enqueue_run(:document, :epoch, :purpose, :force, :algorithm_version)")
_REVOKE = text("SELECT revoke_run(:document, :epoch, :reason)")


class QueuedTasks:
    """Through definer functions, so that the login of the requests needs no right on the queue's tables."""

    async def enqueue_run(self, work: Work[Any], document_id: UUID, epoch: int, wish: RunWish = FIRST) -> UUID:
        run_id = await work.session.scalar(_ENQUEUE, {"document": document_id, "epoch": epoch, **asdict(wish)})
        assert isinstance(run_id, UUID)
        return run_id

    async def revoke_run(
        self, work: Work[Any], document_id: UUID, epoch: int, reason: Revoked = Revoked.SUPERSEDED
    ) -> bool:
        values = {"document": document_id, "epoch": epoch, "reason": str(reason)}
        revoked = await work.session.scalar(_REVOKE, values)
        return bool(revoked)

    async def forget_jobs(self, work: Work[Service], job_ids: Sequence[int]) -> None:
        # The row of one that runs is left to its worker: it could not note the end of its job otherwise.
        for statement in (_STOP, _DELETE_FINISHED):
            await work.session.execute(statement, {"ids": list(job_ids)})

    async def list_known(self, work: Work[Service], job_ids: Sequence[int]) -> Sequence[int]:
        return (await work.session.scalars(_KNOWN, {"ids": list(job_ids)})).all()
