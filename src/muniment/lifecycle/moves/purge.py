"""Purge an archived document or clear a failed one (specs/lifecycle.md, DESIGN §5.2).

The document is gone with the commit, and proven gone by a receipt.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.audit.events import DocumentCleared, DocumentEvent, DocumentPurged
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.receipts.tables import Ending
from muniment.documents.handovers import Withdrawal
from muniment.documents.purge import withdraw
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document
from muniment.errors import Forbidden
from muniment.lifecycle.engine import Mover, hold, indexed, look
from muniment.lifecycle.observability import Outcome, measured, moved
from muniment.lifecycle.obstacles import list_pending, require_no_hand_over
from muniment.lifecycle.proof.prover import Finishing, Tombstone
from muniment.lifecycle.rules import Move
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

REQUESTED = "requested"


@dataclass(frozen=True)
class Ended:
    """A document that is gone: proven by a receipt, or with stores that were not seen empty yet."""

    receipt_id: UUID | None
    pending: Sequence[str] = ()


@dataclass(frozen=True)
class Removal:
    mover: Mover
    finishing: Finishing
    withdrawal: Withdrawal

    async def purge(self, caller: Principal, kb_id: UUID, document_id: UUID, *, cancel_hand_over: bool) -> Ended:
        """Destroy an archived document; the same again answers from its tombstone."""
        async with measured("purge", kb_id=kb_id, document_id=document_id, user_id=caller.user_id) as operation:
            receipt_id = await self.take_purged(caller, kb_id, document_id, cancel_hand_over=cancel_hand_over)
            ended = await self._finish(caller, Tombstone(receipt_id, document_id))
            operation.status = Outcome.PENDING if ended.pending else Outcome.SUCCESS
        return ended

    async def clear(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Ended:
        """Destroy a failed document; the same again answers from its tombstone."""
        async with measured("clear", kb_id=kb_id, document_id=document_id, user_id=caller.user_id) as operation:
            receipt_id = await self.take_cleared(caller, kb_id, document_id)
            ended = await self._finish(caller, Tombstone(receipt_id, document_id))
            operation.status = Outcome.PENDING if ended.pending else Outcome.SUCCESS
        return ended

    async def _finish(self, caller: Principal, tombstone: Tombstone) -> Ended:
        pending = (await self.finishing.finish(caller.organization_id, [tombstone]))[tombstone.receipt_id]
        return Ended(None if pending else tombstone.receipt_id, pending)

    async def take_purged(
        self, caller: Principal, kb_id: UUID, document_id: UUID, *, cancel_hand_over: bool, bulk: bool = False
    ) -> UUID:
        """Only the transaction: the document is gone, its receipt waits to be finished. The receipt's id."""
        try:
            taken_back = await self._take_back(caller, kb_id, document_id) if cancel_hand_over else ()
            async with self.mover.database.work(caller) as work:
                document = await hold(work, Move.PURGE, kb_id, document_id)
                await require_no_hand_over(work, document, cancel=cancel_hand_over, taken_back=taken_back)
                event = DocumentPurged(document.id, document.kb_id, document.name)
                receipt_id = await self._withdraw(work, document, Ending.PURGE, event, taken_back)
        except (DocumentNotFound, Forbidden):
            return await self._find_tombstone(caller, kb_id, document_id, {Ending.PURGE})
        moved(Move.PURGE, kb_id, caller.user_id, bulk=bulk)
        return receipt_id

    async def _take_back(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Sequence[str]:
        """Out of the archive queue, with no transaction open; the jobs that nobody carries out from now on."""
        async with self.mover.database.work(caller) as work:
            await look(work, Move.PURGE, kb_id, document_id)
            pending = await list_pending(work, document_id)
        for job_id in pending:
            await self.withdrawal.withdraw(caller.organization_id, document_id, job_id)
        return pending

    async def take_cleared(self, caller: Principal, kb_id: UUID, document_id: UUID, *, reason: str = REQUESTED) -> UUID:
        """The same for a failed one."""
        try:
            async with self.mover.database.work(caller) as work:
                document = await hold(work, Move.CLEAR, kb_id, document_id)
                event = DocumentCleared(document.id, document.kb_id, document.name, reason=reason)
                receipt_id = await self._withdraw(work, document, Ending.CLEAR, event)
        except (DocumentNotFound, Forbidden):
            return await self._find_tombstone(caller, kb_id, document_id, {Ending.CLEAR, Ending.AUTO_CLEAR})
        moved(Move.CLEAR, kb_id, caller.user_id, auto=False)
        return receipt_id

    async def _withdraw(
        self,
        work: Work[Principal],
        document: Document,
        ending: Ending,
        event: DocumentEvent,
        taken_back: Sequence[str] = (),
    ) -> UUID:
        withdrawn = await withdraw(work, document, ending, event, taken_back=taken_back, tasks=self.mover.tasks)
        await self.mover.index.begin_forgetting(work, indexed(document), document.epoch)
        return withdrawn.receipt_id

    async def _find_tombstone(
        self, caller: Principal, kb_id: UUID, document_id: UUID, endings: Collection[Ending]
    ) -> UUID:
        """Of a document that went this way before; `DocumentNotFound` to whoever could not have done it."""
        async with self.mover.database.work(caller) as work:
            receipt = await ReceiptRepository(work.session).find_of(kb_id, document_id)
            if receipt is not None and receipt.move in endings:
                return receipt.id
            await DocumentRepository(work.session).get(kb_id, document_id)
        raise Forbidden  # it is there, and they may only look at it
