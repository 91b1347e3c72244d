"""The deletion ledger: what must still be removed from a store after its row is gone (docs/design.md#ledger), and reservations of
objects that are written before their row (docs/design.md#reservations).
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
from muniment.storage.deletions.deleters import BatchDeleter, Deleter, DeletionResult
from muniment.storage.deletions.tables import RESERVATION, DeletionOutcome, LedgerEntry, LedgerStore

log = structlog.get_logger()


MAX_CONCURRENT_DELETIONS = 4
"""Some erasers take a connection to the database: others must not wait for theirs."""


BATCH_SIZE = 50
"""In one transaction of an eraser: whoever waits for what it holds does not wait long."""


# By name: what a document is, is known above.
_DOCUMENT_IS_GONE = text("NOT EXISTS (SELECT FROM documents WHERE documents.id = deletions.document_id)")


@dataclass(frozen=True)
class NewLedgerEntry:
    """Exactly one thing to be removed from one store."""

    organization_id: UUID
    kb_id: UUID | None
    """Null, as the document, where it belongs to no document any more."""
    document_id: UUID | None
    store: LedgerStore
    target: str
    reason: str
    not_before: datetime | None = None
    """Of a line that is there to be remembered: who removes the document hastens it."""


class LedgerRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, entries: Iterable[NewLedgerEntry]) -> list[UUID]:
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
            for line in entries
        ]
        # Rows of one statement have the same columns.
        for some in (
            [row for row in rows if "next_attempt_at" not in row],
            [row for row in rows if "next_attempt_at" in row],
        ):
            if some:
                await self._session.execute(insert(LedgerEntry), some)
        return [row["id"] for row in rows]

    async def claim_due(self, ids: Sequence[UUID] | None, *, limit: int) -> Sequence[LedgerEntry]:
        """Take lines for this attempt; nobody else takes them before their next one is due (1 s, doubling to 1 h)."""
        due = select(LedgerEntry.id).where(LedgerEntry.done_at.is_(None), LedgerEntry.next_attempt_at <= func.now())
        if ids is not None:
            due = due.where(LedgerEntry.id.in_(ids))
        due = due.order_by(LedgerEntry.next_attempt_at).limit(limit).with_for_update(skip_locked=True)
        wait = func.least(3600, func.power(2, func.least(12, LedgerEntry.attempts))) * literal_column(
            "interval '1 second'"
        )
        taken = await self._session.scalars(
            update(LedgerEntry)
            .where(LedgerEntry.id.in_(due))
            .values(attempts=LedgerEntry.attempts + 1, next_attempt_at=func.now() + wait)
            .returning(LedgerEntry)
        )
        return taken.all()

    async def list_reservations(self, document_ids: Sequence[UUID]) -> Sequence[tuple[UUID, str]]:
        """Targets of these documents that are written and were not kept, of those that are gone: as long as one is
        there, a run may be about to keep them."""
        waiting = (
            LedgerEntry.document_id.in_(document_ids),
            LedgerEntry.reason == RESERVATION,
            LedgerEntry.done_at.is_(None),
        )
        found = await self._session.execute(
            select(LedgerEntry.document_id, LedgerEntry.target).where(*waiting, _DOCUMENT_IS_GONE)
        )
        return [(document_id, target) for document_id, target in found if document_id is not None]

    async def make_due(self, document_ids: Sequence[UUID]) -> Sequence[UUID]:
        """What is still to be erased of these documents is due now, whenever it was tried last; the lines' ids."""
        waiting = (
            LedgerEntry.document_id.in_(document_ids),
            LedgerEntry.reason != RESERVATION,
            LedgerEntry.done_at.is_(None),
        )
        due = await self._session.scalars(
            update(LedgerEntry)
            .where(*waiting)
            .values(next_attempt_at=func.now())
            .returning(LedgerEntry.id)
            .execution_options(synchronize_session=False)
        )
        return due.all()

    async def mark_done(self, entry_ids: Sequence[UUID], outcome: DeletionOutcome) -> None:
        await self._session.execute(
            update(LedgerEntry)
            .where(LedgerEntry.id.in_(entry_ids))
            .values(done_at=func.now(), outcome=outcome, last_error=None)
            .execution_options(synchronize_session=False)
        )

    async def mark_failed(self, entry_id: UUID, error: str) -> None:
        await self._session.execute(update(LedgerEntry).where(LedgerEntry.id == entry_id).values(last_error=error))

    async def count_pending(self) -> tuple[int, float]:
        """How many lines wait, and the age of the oldest in seconds; without those whose day has not come."""
        age = func.coalesce(func.extract("epoch", func.now() - func.min(LedgerEntry.created_at)), 0)
        waiting = (
            LedgerEntry.done_at.is_(None),
            or_(LedgerEntry.attempts > 0, LedgerEntry.next_attempt_at <= func.now()),
        )
        row = (await self._session.execute(select(func.count(), age).where(*waiting))).one()
        return int(row[0]), float(row[1])


class Ledger:
    """Carries lines out: take, erase with no transaction open, note the outcomes.

    Only the rows that an eraser removes wait for the disk. Whatever else a power failure undoes is done again.
    """

    def __init__(self, database: Database, deleters: Mapping[LedgerStore, Deleter]) -> None:
        self._database = database
        self._deleters = deleters

    async def process(self, organization_id: UUID, ids: Sequence[UUID] | None = None, *, limit: int = 100) -> int:
        """Erase what is due, all of it or the lines named, and what that leads to; how many could not be erased."""
        async with self._database.service_work(Service(organization_id), durable=False) as work:
            lines = await LedgerRepository(work.session).claim_due(ids, limit=limit)
        outcomes = await self._delete_all(lines)
        if lines:
            await self._record(organization_id, lines, outcomes)
        failed = sum(isinstance(outcome, str) for outcome in outcomes)
        further_ids = [
            id_ for outcome in outcomes if isinstance(outcome, DeletionResult) for id_ in outcome.follow_up_ids
        ]
        if further_ids:
            failed += await self.process(organization_id, further_ids, limit=len(further_ids))
        return failed

    async def _delete_all(self, entries: Sequence[LedgerEntry]) -> Sequence[DeletionResult | str]:
        """What became of each, or why it could not be erased."""
        turns = asyncio.Semaphore(MAX_CONCURRENT_DELETIONS)

        async def in_turn(group: Sequence[LedgerEntry]) -> Sequence[DeletionResult | str]:
            async with turns:
                return await self._delete_batch(group)

        groups = list(self._batches(entries))
        outcomes = {
            line.id: outcome
            for group, found in zip(groups, await asyncio.gather(*map(in_turn, groups)), strict=True)
            for line, outcome in zip(group, found, strict=True)
        }
        return [outcomes[line.id] for line in entries]

    def _batches(self, entries: Sequence[LedgerEntry]) -> Iterator[Sequence[LedgerEntry]]:
        for store, eraser in self._deleters.items():
            of_store = [line for line in entries if line.store == store]
            size = BATCH_SIZE if isinstance(eraser, BatchDeleter) else 1
            yield from (of_store[start : start + size] for start in range(0, len(of_store), size))

    async def _delete_batch(self, batch: Sequence[LedgerEntry]) -> Sequence[DeletionResult | str]:
        eraser = self._deleters[LedgerStore(batch[0].store)]
        try:
            if isinstance(eraser, BatchDeleter):
                return await eraser.delete_batch(batch)
            return [await eraser.delete(batch[0])]
        except (MunimentError, ValueError) as cause:  # the second: no store could hold such a target
            for line in batch:
                log.warning("deletions.failed", deletion_id=str(line.id), store=line.store, error=str(cause))
            return [str(cause)] * len(batch)

    async def _record(
        self, organization_id: UUID, entries: Sequence[LedgerEntry], outcomes: Sequence[DeletionResult | str]
    ) -> None:
        done: dict[DeletionOutcome, list[UUID]] = {DeletionOutcome.DELETED: [], DeletionOutcome.RETAINED: []}
        async with self._database.service_work(Service(organization_id), durable=False) as work:
            ledger = LedgerRepository(work.session)
            for line, outcome in zip(entries, outcomes, strict=True):
                if isinstance(outcome, str):
                    await ledger.mark_failed(line.id, outcome)
                else:
                    done[DeletionOutcome.RETAINED if outcome.was_retained else DeletionOutcome.DELETED].append(line.id)
            for outcome, ids in done.items():
                if ids:
                    await ledger.mark_done(ids, outcome)


RESERVATION_LIFETIME = timedelta(days=1)
"""Longer than the longest reading."""


_RESERVE = insert(LedgerEntry)


_CONFIRM = (
    delete(LedgerEntry)
    .where(LedgerEntry.id == bindparam("line_id"), LedgerEntry.attempts == 0)
    .returning(LedgerEntry.id)
)


class ReservationExpired(Unavailable):
    """The operation took too long and expired. It will be retried"""

    code = "ReservationGone"


@dataclass(frozen=True)
class Reservation:
    entry_id: UUID

    async def confirm(self, work: Work[Service]) -> None:
        """In the transaction of the row that refers to the bytes: from here on nothing takes them away."""
        # A line that somebody has begun to carry out is not ours any more.
        if await work.session.scalar(_CONFIRM, {"line_id": self.entry_id}) is None:
            raise ReservationExpired

    async def release(self, work: Work[Service]) -> None:
        """It will not be kept: the sweep takes it away now instead of tomorrow."""
        due = update(LedgerEntry).where(LedgerEntry.id == self.entry_id).values(next_attempt_at=func.now())
        await work.session.execute(due.execution_options(synchronize_session=False))


async def reserve(work: Work[Service], object_key: str, *, kb_id: UUID, document_id: UUID) -> Reservation:
    """In the name of the document whose run writes it: whoever removes that one finds it."""
    line: dict[str, Any] = {
        "id": new_id(),
        "organization_id": work.caller.organization_id,
        "kb_id": kb_id,
        "document_id": document_id,
        "store": LedgerStore.OBJECTS,
        "target": object_key,
        "reason": RESERVATION,
        "next_attempt_at": now() + RESERVATION_LIFETIME,
    }
    await work.session.execute(_RESERVE, line)
    return Reservation(line["id"])


async def process_now(ledger: Ledger, organization_id: UUID, entry_ids: Sequence[UUID]) -> None:
    """Process these entries right after the commit that wrote them. What fails is left to the sweep."""
    if not entry_ids:
        return
    try:
        await ledger.process(organization_id, entry_ids)
    except MunimentError as error:
        log.warning("deletions.deferred", organization_id=str(organization_id), error=error.message)
