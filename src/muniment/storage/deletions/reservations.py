"""A line of the ledger written before the bytes: what is never kept takes itself away (DESIGN §7, "litter")."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, delete, func, insert, update

from muniment.errors import Unavailable
from muniment.storage.db.base import new_id, now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.deletions.tables import NEVER_KEPT, Deletion, Store

LIFETIME = timedelta(days=1)
"""Longer than the longest reading."""


_RESERVE = insert(Deletion)
_KEEP = delete(Deletion).where(Deletion.id == bindparam("line_id"), Deletion.attempts == 0).returning(Deletion.id)


class ReservationGone(Unavailable):
    """It took too long, and the ledger has removed it; it is tried again"""


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
