"""The ledger: what must still go from a store after its row is gone (DESIGN §5.2)."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import structlog
from sqlalchemy import func, insert, literal_column, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import MunimentError, Unavailable
from muniment.storage.blobs.port import BlobNotFound, Blobs
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.tables import NEVER_KEPT, Deletion, Outcome, Store

log = structlog.get_logger()

ERASED_AT_ONCE = 4
"""Some erasers take a connection to the database: others must not wait for theirs."""

# By name: what a document is, is known above.
_OF_NO_DOCUMENT = text("NOT EXISTS (SELECT FROM documents WHERE documents.id = deletions.document_id)")


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
        """Targets of this document that are written and were not kept, now that it is gone: as long as it is there, a
        run may be about to keep them."""
        waiting = (Deletion.document_id == document_id, Deletion.reason == NEVER_KEPT, Deletion.done_at.is_(None))
        return (await self._session.scalars(select(Deletion.target).where(*waiting, _OF_NO_DOCUMENT))).all()

    async def hasten(self, document_ids: Sequence[UUID]) -> Sequence[UUID]:
        """What is still to be erased of these documents is due now, whenever it was tried last; the lines' ids."""
        waiting = (Deletion.document_id.in_(document_ids), Deletion.reason != NEVER_KEPT, Deletion.done_at.is_(None))
        due = await self._session.scalars(
            update(Deletion)
            .where(*waiting)
            .values(next_attempt_at=func.now())
            .returning(Deletion.id)
            .execution_options(synchronize_session=False)
        )
        return due.all()

    async def mark_done(self, deletion_ids: Sequence[UUID], outcome: Outcome) -> None:
        await self._session.execute(
            update(Deletion)
            .where(Deletion.id.in_(deletion_ids))
            .values(done_at=func.now(), outcome=outcome, last_error=None)
            .execution_options(synchronize_session=False)
        )

    async def mark_failed(self, deletion_id: UUID, error: str) -> None:
        await self._session.execute(update(Deletion).where(Deletion.id == deletion_id).values(last_error=error))

    async def count_pending(self) -> tuple[int, float]:
        """How many lines wait, and the age of the oldest in seconds."""
        age = func.coalesce(func.extract("epoch", func.now() - func.min(Deletion.created_at)), 0)
        row = (await self._session.execute(select(func.count(), age).where(Deletion.done_at.is_(None)))).one()
        return int(row[0]), float(row[1])


class Ledger:
    """Carries lines out: take, erase with no transaction open, note the outcomes.

    Only the rows that an eraser removes wait for the disk. Whatever else a power failure undoes is done again.
    """

    def __init__(self, database: Database, erasers: Mapping[Store, Eraser]) -> None:
        self._database = database
        self._erasers = erasers

    async def carry_out(self, organization_id: UUID, ids: Sequence[UUID] | None = None, *, limit: int = 100) -> int:
        """Erase what is due, all of it or the lines named, and what that leads to; how many could not be erased."""
        async with self._database.service_work(Service(organization_id), lasting=False) as work:
            lines = await DeletionRepository(work.session).take_due(ids, limit=limit)
        outcomes = await self._erase_all(lines)
        if lines:
            await self._note(organization_id, lines, outcomes)
        failed = sum(isinstance(outcome, str) for outcome in outcomes)
        further_ids = [id_ for outcome in outcomes if isinstance(outcome, Erased) for id_ in outcome.further_ids]
        if further_ids:
            failed += await self.carry_out(organization_id, further_ids, limit=len(further_ids))
        return failed

    async def _erase_all(self, lines: Sequence[Deletion]) -> Sequence[Erased | str]:
        turns = asyncio.Semaphore(ERASED_AT_ONCE)

        async def in_turn(line: Deletion) -> Erased | str:
            async with turns:
                return await self._erase(line)

        return await asyncio.gather(*(in_turn(line) for line in lines))

    async def _erase(self, line: Deletion) -> Erased | str:
        """What became of it, or why it could not be erased."""
        try:
            return await self._erasers[Store(line.store)].erase(line)
        except (MunimentError, ValueError) as cause:  # the second: no store could hold such a target
            log.warning("deletions.failed", deletion_id=str(line.id), store=line.store, error=str(cause))
            return str(cause)

    async def _note(self, organization_id: UUID, lines: Sequence[Deletion], outcomes: Sequence[Erased | str]) -> None:
        done: dict[Outcome, list[UUID]] = {Outcome.ERASED: [], Outcome.KEPT: []}
        async with self._database.service_work(Service(organization_id), lasting=False) as work:
            ledger = DeletionRepository(work.session)
            for line, outcome in zip(lines, outcomes, strict=True):
                if isinstance(outcome, str):
                    await ledger.mark_failed(line.id, outcome)
                else:
                    done[Outcome.KEPT if outcome.was_kept else Outcome.ERASED].append(line.id)
            for outcome, ids in done.items():
                if ids:
                    await ledger.mark_done(ids, outcome)
