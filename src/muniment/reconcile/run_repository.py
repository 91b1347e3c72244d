"""Every query on runs that halted, and on documents that wait for none."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.storage.tasks.revival import IS_ALIVE, stalled


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
