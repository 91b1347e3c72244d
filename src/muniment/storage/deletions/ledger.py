"""The deletion ledger: what must still be removed from a store after its row is gone (DESIGN §5.2), and reservations of
objects that are written before their row (DESIGN §7).
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import bindparam, delete, func, insert, literal_column, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import MunimentError, Unavailable
from muniment.storage.db.base import new_id, now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.deleters import Erased, Eraser, ErasesTogether
from muniment.storage.deletions.tables import NEVER_KEPT, Deletion, Outcome, Store

log = structlog.get_logger()


ERASED_AT_ONCE = 4
"""Some erasers take a connection to the database: others must not wait for theirs."""


TOGETHER = 50
"""In one transaction of an eraser: whoever waits for what it holds does not wait long."""


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
    not_before: datetime | None = None
    """Of a line that is there to be remembered: who removes the document hastens it."""


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
                **({"next_attempt_at": line.not_before} if line.not_before else {}),
            }
            for line in lines
        ]
        # Rows of one statement have the same columns.
        for some in (
            [row for row in rows if "next_attempt_at" not in row],
            [row for row in rows if "next_attempt_at" in row],
        ):
            if some:
                await self._session.execute(insert(Deletion), some)
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

    async def list_reserved(self, document_ids: Sequence[UUID]) -> Sequence[tuple[UUID, str]]:
        """Targets of these documents that are written and were not kept, of those that are gone: as long as one is
        there, a run may be about to keep them."""
        waiting = (Deletion.document_id.in_(document_ids), Deletion.reason == NEVER_KEPT, Deletion.done_at.is_(None))
        found = await self._session.execute(
            select(Deletion.document_id, Deletion.target).where(*waiting, _OF_NO_DOCUMENT)
        )
        return [(document_id, target) for document_id, target in found if document_id is not None]

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
        """How many lines wait, and the age of the oldest in seconds; without those whose day has not come."""
        age = func.coalesce(func.extract("epoch", func.now() - func.min(Deletion.created_at)), 0)
        waiting = (Deletion.done_at.is_(None), or_(Deletion.attempts > 0, Deletion.next_attempt_at <= func.now()))
        row = (await self._session.execute(select(func.count(), age).where(*waiting))).one()
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
        """What became of each, or why it could not be erased."""
        turns = asyncio.Semaphore(ERASED_AT_ONCE)

        async def in_turn(group: Sequence[Deletion]) -> Sequence[Erased | str]:
            async with turns:
                return await self._erase(group)

        groups = list(self._groups(lines))
        outcomes = {
            line.id: outcome
            for group, found in zip(groups, await asyncio.gather(*map(in_turn, groups)), strict=True)
            for line, outcome in zip(group, found, strict=True)
        }
        return [outcomes[line.id] for line in lines]

    def _groups(self, lines: Sequence[Deletion]) -> Iterator[Sequence[Deletion]]:
        for store, eraser in self._erasers.items():
            of_store = [line for line in lines if line.store == store]
            size = TOGETHER if isinstance(eraser, ErasesTogether) else 1
            yield from (of_store[start : start + size] for start in range(0, len(of_store), size))

    async def _erase(self, group: Sequence[Deletion]) -> Sequence[Erased | str]:
        eraser = self._erasers[Store(group[0].store)]
        try:
            if isinstance(eraser, ErasesTogether):
                return await eraser.erase_together(group)
            return [await eraser.erase(group[0])]
        except (MunimentError, ValueError) as cause:  # the second: no store could hold such a target
            for line in group:
                log.warning("deletions.failed", deletion_id=str(line.id), store=line.store, error=str(cause))
            return [str(cause)] * len(group)

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


LIFETIME = timedelta(days=1)
"""Longer than the longest reading."""


_RESERVE = insert(Deletion)


_KEEP = delete(Deletion).where(Deletion.id == bindparam("line_id"), Deletion.attempts == 0).returning(Deletion.id)


class ReservationGone(Unavailable):
    """The operation took too long and expired. It will be retried"""


@dataclass(frozen=True)
class Reservation:
    line_id: UUID

    async def keep(self, work: Work[Service]) -> None:
        """In the transaction of the row that refers to the bytes: from here on nothing takes them away."""
        # A line that somebody has begun to carry out is not ours any more.
        if await work.session.scalar(_KEEP, {"line_id": self.line_id}) is None:
            raise ReservationGone

    async def release(self, work: Work[Service]) -> None:
        """It will not be kept: the sweep takes it away now instead of tomorrow."""
        due = update(Deletion).where(Deletion.id == self.line_id).values(next_attempt_at=func.now())
        await work.session.execute(due.execution_options(synchronize_session=False))


async def reserve(work: Work[Service], blob_key: str, *, kb_id: UUID, document_id: UUID) -> Reservation:
    """In the name of the document whose run writes it: whoever removes that one finds it."""
    line: dict[str, Any] = {
        "id": new_id(),
        "organization_id": work.caller.organization_id,
        "kb_id": kb_id,
        "document_id": document_id,
        "store": Store.BLOBS,
        "target": blob_key,
        "reason": NEVER_KEPT,
        "next_attempt_at": now() + LIFETIME,
    }
    await work.session.execute(_RESERVE, line)
    return Reservation(line["id"])
