"""Purge an archived document or clear a failed one (docs/contracts.md#purge, docs/design.md#ledger).

The document is gone with the commit, and proven gone by a receipt.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.audit.events import DocumentCleared, DocumentEvent, DocumentPurged
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.receipts.tables import ReceiptMove
from muniment.documents.handovers import Handovers
from muniment.documents.purge import purge
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document
from muniment.errors import Forbidden
from muniment.lifecycle.engine import MoveEngine, indexed_document, permit, permit_locked
from muniment.lifecycle.observability import OperationStatus, count_move, observe
from muniment.lifecycle.obstacles import list_pending_jobs, require_no_open_handover
from muniment.lifecycle.proof.prover import PurgeProver, Tombstone
from muniment.lifecycle.rules import Move
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

REQUESTED = "requested"


@dataclass(frozen=True)
class PurgeResult:
    """A document that is gone: proven by a receipt, or with stores that were not seen empty yet."""

    receipt_id: UUID | None
    pending: Sequence[str] = ()


@dataclass(frozen=True)
class PurgeService:
    engine: MoveEngine
    prover: PurgeProver
    handovers: Handovers

    async def purge(self, caller: Principal, kb_id: UUID, document_id: UUID, *, cancel_hand_over: bool) -> PurgeResult:
        """Destroy an archived document; the same again answers from its tombstone."""
        async with observe("purge", kb_id=kb_id, document_id=document_id, user_id=caller.user_id) as operation:
            receipt_id = await self.commit_purge(caller, kb_id, document_id, cancel_hand_over=cancel_hand_over)
            ended = await self._prove(caller, Tombstone(receipt_id, document_id))
            operation.status = OperationStatus.PENDING if ended.pending else OperationStatus.SUCCESS
        return ended

    async def clear(self, caller: Principal, kb_id: UUID, document_id: UUID) -> PurgeResult:
        """Destroy a failed document; the same again answers from its tombstone."""
        async with observe("clear", kb_id=kb_id, document_id=document_id, user_id=caller.user_id) as operation:
            receipt_id = await self.commit_clear(caller, kb_id, document_id)
            ended = await self._prove(caller, Tombstone(receipt_id, document_id))
            operation.status = OperationStatus.PENDING if ended.pending else OperationStatus.SUCCESS
        return ended

    async def _prove(self, caller: Principal, tombstone: Tombstone) -> PurgeResult:
        pending = (await self.prover.prove(caller.organization_id, [tombstone]))[tombstone.receipt_id]
        return PurgeResult(None if pending else tombstone.receipt_id, pending)

    async def commit_purge(
        self, caller: Principal, kb_id: UUID, document_id: UUID, *, cancel_hand_over: bool, bulk: bool = False
    ) -> UUID:
        """Only the transaction: the document is gone, its receipt waits to be finished. The receipt's id."""
        try:
            taken_back = await self._cancel_handovers(caller, kb_id, document_id) if cancel_hand_over else ()
            async with self.engine.database.work(caller) as work:
                document = await permit_locked(work, Move.PURGE, kb_id, document_id)
                await require_no_open_handover(work, document, cancel=cancel_hand_over, cancelled_jobs=taken_back)
                event = DocumentPurged(document.id, document.kb_id, document.name)
                receipt_id = await self._purge(work, document, ReceiptMove.PURGE, event, taken_back)
        except (DocumentNotFound, Forbidden):
            return await self._find_tombstone(caller, kb_id, document_id, {ReceiptMove.PURGE})
        count_move(Move.PURGE, kb_id, caller.user_id, bulk=bulk)
        return receipt_id

    async def _cancel_handovers(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Sequence[str]:
        """Out of the archive queue, with no transaction open; the jobs that nobody carries out from now on."""
        async with self.engine.database.work(caller) as work:
            await permit(work, Move.PURGE, kb_id, document_id)
            pending = await list_pending_jobs(work, document_id)
        for job_id in pending:
            await self.handovers.cancel(caller.organization_id, document_id, job_id)
        return pending

    async def commit_clear(self, caller: Principal, kb_id: UUID, document_id: UUID, *, reason: str = REQUESTED) -> UUID:
        """The same for a failed one."""
        try:
            async with self.engine.database.work(caller) as work:
                document = await permit_locked(work, Move.CLEAR, kb_id, document_id)
                event = DocumentCleared(document.id, document.kb_id, document.name, reason=reason)
                receipt_id = await self._purge(work, document, ReceiptMove.CLEAR, event)
        except (DocumentNotFound, Forbidden):
            return await self._find_tombstone(caller, kb_id, document_id, {ReceiptMove.CLEAR, ReceiptMove.AUTO_CLEAR})
        count_move(Move.CLEAR, kb_id, caller.user_id, auto=False)
        return receipt_id

    async def _purge(
        self,
        work: Work[Principal],
        document: Document,
        move: ReceiptMove,
        event: DocumentEvent,
        cancelled_jobs: Sequence[str] = (),
    ) -> UUID:
        withdrawn = await purge(work, document, move, event, cancelled_jobs=cancelled_jobs, tasks=self.engine.tasks)
        await self.engine.index.plan_delete(work, indexed_document(document), document.epoch)
        return withdrawn.receipt_id

    async def _find_tombstone(
        self, caller: Principal, kb_id: UUID, document_id: UUID, moves: Collection[ReceiptMove]
    ) -> UUID:
        """Of a document that went this way before; `DocumentNotFound` to whoever could not have done it."""
        async with self.engine.database.work(caller) as work:
            receipt = await ReceiptRepository(work.session).find_by_document(kb_id, document_id)
            if receipt is not None and receipt.move in moves:
                return receipt.id
            await DocumentRepository(work.session).get(kb_id, document_id)
        raise Forbidden  # it is there, and they may only look at it
