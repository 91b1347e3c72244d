"""Taking a document out: its rows are gone with the commit, and its tombstone says what must be proven gone as well."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from muniment.audit.events import DocumentEvent
from muniment.audit.log import AuditLog
from muniment.audit.receipts.repository import Departure, ReceiptRepository
from muniment.audit.receipts.tables import Ending
from muniment.documents.destruction import destroy
from muniment.documents.tables import Document
from muniment.errors import Forbidden
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import Tasks


@dataclass(frozen=True)
class Withdrawn:
    """The tombstone that becomes a receipt, and the ledger lines of what is to be erased."""

    receipt_id: UUID
    deletion_ids: Sequence[UUID]


async def withdraw(
    work: Work[Any],
    document: Document,
    move: Ending,
    event: DocumentEvent,
    *,
    actor: str | None = None,
    taken_back: Collection[str] = (),
    tasks: Tasks | None = None,
) -> Withdrawn:
    """Remove a document that the caller holds, with its audit line and its tombstone, in one transaction.

    `taken_back`: its jobs of the archive queue, which go with it. `tasks`, where somebody may still read it: they are
    told to stop.
    """
    receipts = ReceiptRepository(work.session)
    stock = await receipts.take_stock(document.id)
    if stock is None:
        raise Forbidden
    if tasks is not None and stock["is_being_read"]:
        await tasks.revoke_run(work, document.id, document.epoch)
    deletion_ids = await destroy(work, document, reason=move, taken_back=taken_back)
    event_id = await AuditLog(work).record(event, actor=actor)
    departure = Departure(
        document.id,
        document.name,
        document.kb_id,
        document.organization_id,
        move,
        actor=actor or work.caller.actor,
        event_id=event_id,
    )
    return Withdrawn(await receipts.add(departure, stock), deletion_ids)
