"""The ledger: what must still go from a store after its row is gone (DESIGN §5.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import structlog
from sqlalchemy import func, insert, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import MunimentError, Unavailable
from muniment.storage.blobs.port import BlobNotFound, Blobs
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.tables import NEVER_KEPT, Deletion, Outcome, Store

log = structlog.get_logger()


@dataclass(frozen=True)
class Line:
    """Exactly one thing to be removed from one store."""

    organization_id: UUID
    kb_id: UUID | None
    """Null, as the document, where it belongs to no document any more."""
    document_id: UUID | None
    store: Store
    target: str
    reason: str


@dataclass(frozen=True)
class Erased:
    """What became of a line: it may have been kept for others, and may have led to lines for other stores."""

    was_kept: bool = False
    further_ids: Sequence[UUID] = ()


class Eraser(Protocol):
    async def erase(self, line: Deletion) -> Erased:
        """Remove what the line names and look again: returns only when it was seen to be gone, or is kept on purpose.
        What is not there is no error: whoever died before noting the outcome does it again."""


class StillThere(Unavailable):
    """It was deleted and is still there"""


class BlobEraser:
    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def erase(self, line: Deletion) -> Erased:
        await self._blobs.delete(line.target)
        try:
            await self._blobs.size_bytes(line.target)
        except BlobNotFound:
            return Erased()
        raise StillThere


class DeletionRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, lines: Iterable[Line]) -> list[UUID]:
        """Written by the transaction that deletes the row. A request may write lines and not read them."""
        rows: list[dict[str, Any]] = [
            {
                "id": new_id(),
                "organization_id": line.organization_id,
                "kb_id": line.kb_id,
                "document_id": line.document_id,
                "store": line.store,
                "target": line.target,
                "reason": line.reason,
            }
            for line in lines
        ]
        if rows:
            await self._session.execute(insert(Deletion), rows)
        return [row["id"] for row in rows]

    async def take_due(self, ids: Sequence[UUID] | None, *, limit: int) -> Sequence[Deletion]:
        """Take lines for this attempt; nobody else takes them before their next one is due (1 s, doubling to 1 h)."""
        due = select(Deletion.id).where(Deletion.done_at.is_(None), Deletion.next_attempt_at <= func.now())
        if ids is not None:
            due = due.where(Deletion.id.in_(ids))
        due = due.order_by(Deletion.next_attempt_at).limit(limit).with_for_update(skip_locked=True)
        wait = func.least(3600, func.power(2, func.least(12, Deletion.attempts))) * literal_column(
            "interval '1 second'"
        )
        taken = await self._session.scalars(
            update(Deletion)
            .where(Deletion.id.in_(due))
            .values(attempts=Deletion.attempts + 1, next_attempt_at=func.now() + wait)
            .returning(Deletion)
        )
        return taken.all()

    async def list_reserved(self, document_id: UUID) -> Sequence[str]:
        """Targets of this document that are written and not kept (yet)."""
        waiting = (Deletion.document_id == document_id, Deletion.reason == NEVER_KEPT, Deletion.done_at.is_(None))
        return (await self._session.scalars(select(Deletion.target).where(*waiting))).all()

    async def mark_done(self, deletion_id: UUID, outcome: Outcome) -> None:
        await self._session.execute(
            update(Deletion)
            .where(Deletion.id == deletion_id)
            .values(done_at=func.now(), outcome=outcome, last_error=None)
        )

    async def mark_failed(self, deletion_id: UUID, error: str) -> None:
        await self._session.execute(update(Deletion).where(Deletion.id == deletion_id).values(last_error=error))

    async def count_pending(self) -> tuple[int, float]:
        """How many lines wait, and the age of the oldest in seconds."""
        age = func.coalesce(func.extract("epoch", func.now() - func.min(Deletion.created_at)), 0)
        row = (await self._session.execute(select(func.count(), age).where(Deletion.done_at.is_(None)))).one()
        return int(row[0]), float(row[1])


class Ledger:
    """Carries lines out: take, erase with no transaction open, note the outcome."""

    def __init__(self, database: Database, erasers: Mapping[Store, Eraser]) -> None:
        self._database = database
        self._erasers = erasers

    async def carry_out(self, organization_id: UUID, ids: Sequence[UUID] | None = None, *, limit: int = 100) -> int:
        """Erase what is due, all of it or the lines named, and what that leads to; how many could not be erased."""
        async with self._database.service_work(Service(organization_id)) as work:
            lines = await DeletionRepository(work.session).take_due(ids, limit=limit)
        failed, further_ids = 0, list[UUID]()
        for line in lines:
            erased = await self._erase(line)
            failed += erased is None
            further_ids += erased.further_ids if erased else ()
        if further_ids:
            failed += await self.carry_out(organization_id, further_ids, limit=len(further_ids))
        return failed

    async def _erase(self, line: Deletion) -> Erased | None:
        erased, error = None, ""
        try:
            erased = await self._erasers[Store(line.store)].erase(line)
        except (MunimentError, ValueError) as cause:  # the second: no store could hold such a target
            error = str(cause)
            log.warning("deletions.failed", deletion_id=str(line.id), store=line.store, error=error)
        async with self._database.service_work(Service(line.organization_id)) as work:
            ledger = DeletionRepository(work.session)
            if erased is None:
                await ledger.mark_failed(line.id, error)
            else:
                await ledger.mark_done(line.id, Outcome.KEPT if erased.was_kept else Outcome.ERASED)
        return erased
