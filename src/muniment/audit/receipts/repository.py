"""Every query of receipts. Users see those of knowledge bases they own; admins see all of the organization."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, literal_column, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.receipts.tables import Receipt, ReceiptMove
from muniment.audit.sealing import SealPosition
from muniment.audit.tables import AuditSeal
from muniment.errors import NotFound
from muniment.storage.db.base import new_id

_NOT_IN_RECEIPT = ("owner_id", "is_being_read")
"""Fields of an inventory that are informative but describe nothing a store held."""
_STORE_SIGNED = text("""
    UPDATE receipts SET record = CAST(:record AS jsonb), signature = :signature, signed_at = now(), pending = NULL
     WHERE id = :id AND signed_at IS NULL
""")
REQUEST_GRACE = timedelta(seconds=5)
"""Time a request has to finish its receipt before the sweep takes over."""


class ReceiptNotFound(NotFound):
    """Receipt not found"""


@dataclass(frozen=True)
class NewTombstone:
    """The tombstone of a document: what it was, how it was deleted, and the audit event."""

    document_id: UUID
    document_name: str
    kb_id: UUID
    organization_id: UUID
    move: ReceiptMove
    actor: str
    event_id: UUID


@dataclass(frozen=True)
class SignedRecord:
    receipt_id: UUID
    record: Mapping[str, Any]
    signature: str


class ReceiptRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def take_inventory(self, document_id: UUID) -> Mapping[str, Any] | None:
        """Return counts, keys and hashes of the document in all tables, or `None` if access is denied."""
        inventory: Mapping[str, Any] | None = await self._session.scalar(
            text("SELECT take_stock(:document)"), {"document": document_id}
        )
        return inventory

    async def add(self, tombstone: NewTombstone, inventory: Mapping[str, Any]) -> UUID:
        """Add an unsigned receipt, in the transaction that deleted the document."""
        receipt_id = new_id()
        values = {
            **vars(tombstone),
            "id": receipt_id,
            "owner_id": UUID(inventory["owner_id"]),
            "found": {name: found for name, found in inventory.items() if name not in _NOT_IN_RECEIPT},
            "next_attempt_at": func.now() + REQUEST_GRACE,
        }
        # Without RETURNING, because a user whose upload auto-clears a document need not be allowed to read its receipt.
        await self._session.execute(insert(Receipt).values(values))
        return receipt_id

    async def find_by_document(self, kb_id: UUID, document_id: UUID) -> Receipt | None:
        """Return the receipt of a document, signed or not."""
        named = select(Receipt).where(Receipt.document_id == document_id, Receipt.kb_id == kb_id)
        return await self._session.scalar(named)

    async def exists(self, document_id: UUID) -> bool:
        """Return whether the document was purged."""
        found = select(Receipt.id).where(Receipt.document_id == document_id).limit(1)
        return await self._session.scalar(found) is not None

    async def get(self, receipt_id: UUID) -> Receipt:
        """Return the receipt, signed or not."""
        found = await self._session.scalar(select(Receipt).where(Receipt.id == receipt_id))
        if found is None:
            raise ReceiptNotFound
        return found

    async def list_signed(self, kb_id: UUID | None, *, offset: int, limit: int) -> tuple[Sequence[Receipt], int]:
        """Return signed receipts, newest first."""
        signed = select(Receipt).where(Receipt.signed_at.is_not(None))
        if kb_id is not None:
            signed = signed.where(Receipt.kb_id == kb_id)
        total = await self._session.scalar(select(func.count()).select_from(signed.subquery()))
        page = await self._session.scalars(signed.order_by(Receipt.id.desc()).offset(offset).limit(limit))
        return page.all(), total or 0

    async def list_unsigned_in(self, kb_id: UUID, *, limit: int) -> Sequence[Receipt]:
        unsigned = select(Receipt).where(Receipt.kb_id == kb_id, Receipt.signed_at.is_(None))
        return (await self._session.scalars(unsigned.order_by(Receipt.id).limit(limit))).all()

    async def count_unsigned_in(self, kb_id: UUID) -> int:
        unsigned = select(func.count()).where(Receipt.kb_id == kb_id, Receipt.signed_at.is_(None))
        return await self._session.scalar(unsigned) or 0

    async def list_(self, ids: Sequence[UUID]) -> Sequence[Receipt]:
        return (await self._session.scalars(select(Receipt).where(Receipt.id.in_(ids)).order_by(Receipt.id))).all()

    async def claim_due(self, *, limit: int) -> Sequence[Receipt]:
        """Claim receipts that are due.

        Another process can claim them only at their next attempt (5 s, doubling to 10 min).
        """
        due = select(Receipt.id).where(Receipt.signed_at.is_(None), Receipt.next_attempt_at <= func.now())
        due = due.order_by(Receipt.next_attempt_at).limit(limit).with_for_update(skip_locked=True)
        wait = func.least(600, 5 * func.power(2, func.least(7, Receipt.attempts))) * literal_column(
            "interval '1 second'"
        )
        claimed = await self._session.scalars(
            update(Receipt)
            .where(Receipt.id.in_(due))
            .values(attempts=Receipt.attempts + 1, next_attempt_at=func.now() + wait)
            .returning(Receipt)
        )
        return claimed.all()

    async def store_point_counts(self, points: Mapping[UUID, int]) -> None:
        """Store how many points the index held before anything was deleted. The first count stays."""
        statement = "UPDATE receipts SET points = coalesce(points, :points) WHERE id = :id"
        if points:
            rows = [{"id": key, "points": value} for key, value in points.items()]
            await self._session.execute(text(statement), rows)

    async def store_pending(self, pending: Mapping[UUID, Sequence[str]]) -> None:
        statement = "UPDATE receipts SET pending = :pending WHERE id = :id AND signed_at IS NULL"
        if pending:
            rows = [{"id": key, "pending": list(stores)} for key, stores in pending.items()]
            await self._session.execute(text(statement), rows)

    async def find_positions(self, event_ids: Sequence[UUID]) -> Mapping[UUID, SealPosition]:
        """Return the positions of the events that are sealed."""
        columns = (AuditSeal.event_id, AuditSeal.seq, AuditSeal.hash)
        found = await self._session.execute(select(*columns).where(AuditSeal.event_id.in_(event_ids)))
        return {event_id: SealPosition(seq, digest.hex()) for event_id, seq, digest in found}

    async def store_signed(self, signed: Sequence[SignedRecord]) -> None:
        """Store signed records. A record that another process has signed stays."""
        rows = [{"id": one.receipt_id, "record": json.dumps(one.record), "signature": one.signature} for one in signed]
        if rows:
            await self._session.execute(_STORE_SIGNED, rows)

    async def count_unsigned(self) -> tuple[int, float]:
        """Return the number of unsigned receipts and the age of the oldest one in seconds."""
        age = func.coalesce(func.extract("epoch", func.now() - func.min(Receipt.created_at)), 0)
        row = (await self._session.execute(select(func.count(), age).where(Receipt.signed_at.is_(None)))).one()
        return int(row[0]), float(row[1])
