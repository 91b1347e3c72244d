"""The deletion ledger: objects that must still be deleted from a store after their row is gone (docs/design.md#ledger),
and reservations of objects that are written before their row (docs/design.md#reservations).
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import ColumnElement, bindparam, delete, func, insert, literal_column, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import MunimentError, Unavailable
from muniment.storage.concurrency import limit_concurrency
from muniment.storage.db.base import new_id, now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.deleters import BatchDeleter, Deleter, DeletionResult
from muniment.storage.deletions.tables import RESERVATION, DeletionOutcome, LedgerEntry, LedgerStore

log = structlog.get_logger()

MAX_CONCURRENT_DELETIONS = 4
"""Some deleters use a database connection: they must leave some to others."""
BATCH_SIZE = 50
"""Entries in one transaction of a deleter, so that nobody waits long for the rows it locks."""

# A function of documents, which is above this package.
_DOCUMENT_IS_GONE = func.app_document_is_gone(LedgerEntry.document_id)
_SUMMARY = text("""
    SELECT document_id,
           count(*) FILTER (WHERE store = 'blobs' AND done_at IS NULL AND reason <> :reservation),
           count(*) FILTER (WHERE store = 'artifacts' AND done_at IS NULL),
           count(*) FILTER (WHERE store IN ('queue', 'dead_letters') AND done_at IS NULL),
           coalesce(array_agg(DISTINCT target) FILTER (WHERE store = 'blobs'), '{}'),
           coalesce(array_agg(DISTINCT split_part(target, '/', 3)) FILTER (WHERE store = 'artifacts'), '{}'),
           coalesce(array_agg(DISTINCT target) FILTER (WHERE store = 'queue' AND outcome = 'erased'), '{}')
      FROM deletions WHERE document_id = ANY (CAST(:document_ids AS uuid[])) GROUP BY document_id
""")


@dataclass(frozen=True)
class NewLedgerEntry:
    """An entry to be written: exactly one object to be deleted from one store."""

    organization_id: UUID
    kb_id: UUID | None
    """Null, like the document, if the object no longer belongs to one."""
    document_id: UUID | None
    store: LedgerStore
    target: str
    reason: str
    not_before: datetime | None = None
    """Earliest time of the deletion. A purge of the document makes the entry due immediately."""


_IS_RESERVED = (LedgerEntry.reason == RESERVATION, LedgerEntry.done_at.is_(None))


def _is_below(prefix: str) -> ColumnElement[bool]:
    return LedgerEntry.target.startswith(prefix, autoescape=True)


@dataclass(frozen=True)
class LedgerSummary:
    """The entries of one document: how many are open per store, and what they name."""

    document_id: UUID
    open_objects: int
    """Without reservations."""
    open_artifacts: int
    open_jobs: int
    object_keys: Sequence[str]
    content_keys: Sequence[str]
    """Contents whose artifacts were to be deleted."""
    deleted_jobs: Sequence[str]
    """Jobs that were deleted from the hand-over queue."""


class LedgerRepository:
    """Queries on the ledger."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, entries: Iterable[NewLedgerEntry]) -> list[UUID]:
        """Write entries in the transaction that deletes the row, and return their ids. Requests can write entries but
        not read them."""
        rows: list[dict[str, Any]] = [
            {
                "id": new_id(),
                "organization_id": entry.organization_id,
                "kb_id": entry.kb_id,
                "document_id": entry.document_id,
                "store": entry.store,
                "target": entry.target,
                "reason": entry.reason,
                **({"next_attempt_at": entry.not_before} if entry.not_before else {}),
            }
            for entry in entries
        ]
        # All rows of one statement must have the same columns.
        for batch in (
            [row for row in rows if "next_attempt_at" not in row],
            [row for row in rows if "next_attempt_at" in row],
        ):
            if batch:
                await self._session.execute(insert(LedgerEntry), batch)
        return [row["id"] for row in rows]

    async def claim_due(self, ids: Sequence[UUID] | None, *, limit: int) -> Sequence[LedgerEntry]:
        """Claim due entries for one attempt. The next one can begin after a wait (1 s, doubling to 1 h)."""
        due = select(LedgerEntry.id).where(LedgerEntry.done_at.is_(None), LedgerEntry.next_attempt_at <= func.now())
        if ids is not None:
            due = due.where(LedgerEntry.id.in_(ids))
        due = due.order_by(LedgerEntry.next_attempt_at).limit(limit).with_for_update(skip_locked=True)
        wait = func.least(3600, func.power(2, func.least(12, LedgerEntry.attempts))) * literal_column(
            "interval '1 second'"
        )
        claimed = await self._session.scalars(
            update(LedgerEntry)
            .where(LedgerEntry.id.in_(due))
            .values(attempts=LedgerEntry.attempts + 1, next_attempt_at=func.now() + wait)
            .returning(LedgerEntry)
        )
        return claimed.all()

    async def summarize(self, document_ids: Sequence[UUID]) -> Sequence[LedgerSummary]:
        """Return the entries of each of these documents that has any."""
        values = {"document_ids": list(document_ids), "reservation": RESERVATION}
        return [LedgerSummary(*row) for row in await self._session.execute(_SUMMARY, values)]

    async def list_reservations(self, document_ids: Sequence[UUID]) -> Sequence[tuple[UUID, str]]:
        """Return the unconfirmed objects of those of the documents that are gone. While a document exists, its run may
        still confirm them."""
        waiting = (
            LedgerEntry.document_id.in_(document_ids),
            LedgerEntry.reason == RESERVATION,
            LedgerEntry.done_at.is_(None),
        )
        found = await self._session.execute(
            select(LedgerEntry.document_id, LedgerEntry.target).where(*waiting, _DOCUMENT_IS_GONE)
        )
        return [(document_id, target) for document_id, target in found if document_id is not None]

    async def list_reserved(self, prefix: str, document_id: UUID) -> Sequence[str]:
        """Return the reserved objects below this prefix or of this document that no attempt to delete them has begun
        for, sorted by key."""
        is_named = or_(_is_below(prefix), LedgerEntry.document_id == document_id)
        reserved = select(LedgerEntry.target).where(*_IS_RESERVED, is_named, LedgerEntry.attempts == 0)
        return sorted(await self._session.scalars(reserved))

    async def release_below(self, prefix: str, document_id: UUID) -> Sequence[UUID]:
        """Make the reservations of all objects below this prefix, and all of this document, due now. Return their
        ids."""
        return await self._make_due(*_IS_RESERVED, or_(_is_below(prefix), LedgerEntry.document_id == document_id))

    async def release_reservations(self, document_id: UUID) -> Sequence[UUID]:
        """Make all reservations of the document due now, because its run has ended without using them. Return their
        ids."""
        return await self._make_due(*_IS_RESERVED, LedgerEntry.document_id == document_id)

    async def _make_due(self, *conditions: ColumnElement[bool]) -> Sequence[UUID]:
        due = update(LedgerEntry).where(*conditions).values(next_attempt_at=func.now()).returning(LedgerEntry.id)
        return (await self._session.scalars(due.execution_options(synchronize_session=False))).all()

    async def make_due(self, document_ids: Sequence[UUID]) -> Sequence[UUID]:
        """Make all pending entries of these documents due now, whenever they were tried last. Return their ids."""
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
        """Record the outcome of processed entries."""
        await self._session.execute(
            update(LedgerEntry)
            .where(LedgerEntry.id.in_(entry_ids))
            .values(done_at=func.now(), outcome=outcome, last_error=None)
            .execution_options(synchronize_session=False)
        )

    async def mark_failed(self, entry_id: UUID, error: str) -> None:
        """Record why an entry could not be processed."""
        await self._session.execute(update(LedgerEntry).where(LedgerEntry.id == entry_id).values(last_error=error))

    async def count_pending(self) -> tuple[int, float]:
        """Return the number of pending entries and the age of the oldest in seconds, without those that are not yet
        due for the first time."""
        age = func.coalesce(func.extract("epoch", func.now() - func.min(LedgerEntry.created_at)), 0)
        waiting = (
            LedgerEntry.done_at.is_(None),
            or_(LedgerEntry.attempts > 0, LedgerEntry.next_attempt_at <= func.now()),
        )
        row = (await self._session.execute(select(func.count(), age).where(*waiting))).one()
        return int(row[0]), float(row[1])


class Ledger:
    """Processes entries: claim them, delete their objects with no transaction open, record the outcomes.

    Only the rows that a deleter removes wait for the disk. Anything else that a power failure undoes is repeated.
    """

    def __init__(self, database: Database, deleters: Mapping[LedgerStore, Deleter]) -> None:
        self._database = database
        self._deleters = deleters

    async def process(self, organization_id: UUID, ids: Sequence[UUID] | None = None, *, limit: int = 100) -> int:
        """Process due entries, or the given ones of them, and those that follow from them. Return how many failed."""
        async with self._database.service_work(Service(organization_id), durable=False) as work:
            entries = await LedgerRepository(work.session).claim_due(ids, limit=limit)
        outcomes = await self._delete_all(entries)
        if entries:
            await self._record(organization_id, entries, outcomes)
        failed = sum(isinstance(outcome, str) for outcome in outcomes)
        follow_up_ids = [
            id_ for outcome in outcomes if isinstance(outcome, DeletionResult) for id_ in outcome.follow_up_ids
        ]
        if follow_up_ids:
            failed += await self.process(organization_id, follow_up_ids, limit=len(follow_up_ids))
        return failed

    async def _delete_all(self, entries: Sequence[LedgerEntry]) -> Sequence[DeletionResult | str]:
        """Return the result of each entry, or why it failed."""
        batches = list(self._batches(entries))
        delete_batch = limit_concurrency(self._delete_batch, MAX_CONCURRENT_DELETIONS)
        outcomes = {
            entry.id: outcome
            for batch, found in zip(batches, await asyncio.gather(*map(delete_batch, batches)), strict=True)
            for entry, outcome in zip(batch, found, strict=True)
        }
        return [outcomes[entry.id] for entry in entries]

    def _batches(self, entries: Sequence[LedgerEntry]) -> Iterator[Sequence[LedgerEntry]]:
        for store, deleter in self._deleters.items():
            of_store = [entry for entry in entries if entry.store == store]
            size = BATCH_SIZE if isinstance(deleter, BatchDeleter) else 1
            yield from (of_store[start : start + size] for start in range(0, len(of_store), size))

    async def _delete_batch(self, batch: Sequence[LedgerEntry]) -> Sequence[DeletionResult | str]:
        deleter = self._deleters[LedgerStore(batch[0].store)]
        try:
            if isinstance(deleter, BatchDeleter):
                return await deleter.delete_batch(batch)
            return [await deleter.delete(batch[0])]
        except (MunimentError, ValueError) as cause:  # ValueError: no store can hold such a key
            for entry in batch:
                log.warning("deletions.failed", deletion_id=str(entry.id), store=entry.store, error=str(cause))
            return [str(cause)] * len(batch)

    async def _record(
        self, organization_id: UUID, entries: Sequence[LedgerEntry], outcomes: Sequence[DeletionResult | str]
    ) -> None:
        done: dict[DeletionOutcome, list[UUID]] = {DeletionOutcome.DELETED: [], DeletionOutcome.RETAINED: []}
        async with self._database.service_work(Service(organization_id), durable=False) as work:
            ledger = LedgerRepository(work.session)
            for entry, outcome in zip(entries, outcomes, strict=True):
                if isinstance(outcome, str):
                    await ledger.mark_failed(entry.id, outcome)
                else:
                    done[DeletionOutcome.RETAINED if outcome.was_retained else DeletionOutcome.DELETED].append(entry.id)
            for outcome, ids in done.items():
                if ids:
                    await ledger.mark_done(ids, outcome)


RESERVATION_LIFETIME = timedelta(days=1)
"""Longer than any run takes."""

_RESERVE = insert(LedgerEntry)
_CONFIRM = (
    delete(LedgerEntry)
    .where(LedgerEntry.id == bindparam("entry_id"), LedgerEntry.attempts == 0)
    .returning(LedgerEntry.id)
)


class ReservationExpired(Unavailable):
    """The operation took too long and expired. It will be retried"""

    code = "ReservationGone"


@dataclass(frozen=True)
class Reservation:
    """A ledger entry that deletes an object unless it is confirmed in time."""

    entry_id: UUID

    async def confirm(self, work: Work[Service]) -> None:
        """Delete the entry, in the transaction of the row that references the object. Raise `ReservationExpired` if
        the object may already be deleted."""
        # Once an attempt has begun, the object may be gone.
        if await work.session.scalar(_CONFIRM, {"entry_id": self.entry_id}) is None:
            raise ReservationExpired

    async def release(self, work: Work[Service]) -> None:
        """Make the entry due now: the object will not be used."""
        due = update(LedgerEntry).where(LedgerEntry.id == self.entry_id).values(next_attempt_at=func.now())
        await work.session.execute(due.execution_options(synchronize_session=False))


async def reserve(work: Work[Service], object_key: str, *, kb_id: UUID, document_id: UUID) -> Reservation:
    """Write a ledger entry for the object before its bytes. Unless it is confirmed, the sweep deletes the object, as
    does a purge of the document whose run writes it."""
    entry: dict[str, Any] = {
        "id": new_id(),
        "organization_id": work.caller.organization_id,
        "kb_id": kb_id,
        "document_id": document_id,
        "store": LedgerStore.OBJECTS,
        "target": object_key,
        "reason": RESERVATION,
        "next_attempt_at": now() + RESERVATION_LIFETIME,
    }
    await work.session.execute(_RESERVE, entry)
    return Reservation(entry["id"])


async def process_now(ledger: Ledger, organization_id: UUID, entry_ids: Sequence[UUID]) -> None:
    """Process these entries right after the commit that wrote them. What fails is left to the sweep."""
    if not entry_ids:
        return
    try:
        await ledger.process(organization_id, entry_ids)
    except MunimentError as error:
        log.warning("deletions.deferred", organization_id=str(organization_id), error=error.message)
