"""Putting runs into the queue that lies in the same database, and taking them out again."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from sqlalchemy import text

from muniment.storage.db.work import Work
from muniment.storage.tasks.port import FIRST, RunWish

_ENQUEUE = text("SELECT enqueue_run(:document, :epoch, :purpose, :force, :algorithm_version)")
_REVOKE = text("SELECT revoke_run(:document, :epoch)")


class QueuedTasks:
    """Through definer functions, so that the login of the requests needs no right on the queue's tables."""

    async def enqueue_run(self, work: Work[Any], document_id: UUID, epoch: int, wish: RunWish = FIRST) -> UUID:
        run_id = await work.session.scalar(_ENQUEUE, {"document": document_id, "epoch": epoch, **asdict(wish)})
        assert isinstance(run_id, UUID)
        return run_id

    async def revoke_run(self, work: Work[Any], document_id: UUID, epoch: int) -> bool:
        revoked = await work.session.scalar(_REVOKE, {"document": document_id, "epoch": epoch})
        return bool(revoked)
