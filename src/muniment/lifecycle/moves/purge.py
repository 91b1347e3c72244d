"""Purge an archived document (docs/contracts.md#purge, docs/design.md#ledger).

The document is gone with the commit, and proven gone by a receipt. `clear.py` does the same with a failed document.
"""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from muniment.audit.events import DocumentEvent, DocumentHandOverCancelled, DocumentPurged
from muniment.audit.log import AuditLog
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.receipts.tables import ReceiptMove
from muniment.documents import purge as documents_purge
from muniment.documents.handover_status import HandoverStatus
from muniment.documents.handovers import list_open_handovers
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document
from muniment.errors import Forbidden
from muniment.lifecycle.engine import DocumentMove, MoveEngine, Target, indexed_document, observe_move
from muniment.lifecycle.observability import OperationStatus
from muniment.lifecycle.obstacles import MoveContext
from muniment.lifecycle.proof.prover import Tombstone
from muniment.lifecycle.rules import Move
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work


@dataclass(frozen=True)
class PurgeResult:
    """A document that is gone: proven by a receipt, or with stores that were not verified as empty yet."""

    receipt_id: UUID
    """Under this id the receipt is found as soon as it is signed."""
    pending: Sequence[str] = ()
    """Stores that are not verified yet."""


class PurgingMove(DocumentMove[Tombstone]):
    """A move that deletes the document. Its tombstone becomes a receipt once every store is verified."""

    receipt_move: ClassVar[ReceiptMove]
    repeated_moves: ClassVar[Collection[ReceiptMove]]
    """Receipts that answer a repeated call."""

    @abstractmethod
    def event(self, document: Document) -> DocumentEvent:
        """Return the audit event of the move."""

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Tombstone:
        work, document = context.work, context.document
        purged = await documents_purge.purge(
            work,
            document,
            self.receipt_move,
            self.event(document),
            cancelled_jobs=self.cancelled_jobs or (),
            tasks=engine.tasks,
        )
        await engine.index.plan_delete(work, indexed_document(document), document.epoch)
        return Tombstone(purged.receipt_id, document.id)


class Purge(PurgingMove):
    """Purge an archived document, optionally with its open hand-overs."""

    move = Move.PURGE
    receipt_move = ReceiptMove.PURGE
    repeated_moves = frozenset({ReceiptMove.PURGE})

    def __init__(self, *, cancel_hand_over: bool = False, bulk: bool = False) -> None:
        self._cancel_hand_over = cancel_hand_over
        self.labels = {"bulk": bulk}

    def event(self, document: Document) -> DocumentEvent:
        return DocumentPurged(document.id, document.kb_id, document.name)

    async def prepare(self, engine: MoveEngine, target: Target) -> None:
        """Take the document's jobs out of the hand-over queue, if the caller asked for that."""
        if not self._cancel_hand_over:
            return
        async with engine.database.work(target.caller) as work:
            self.cancelled_jobs = await _list_pending_jobs(work, target.document_id)
            await engine.permit(work, self.move, target, cancelled_jobs=self.cancelled_jobs)
        for job_id in self.cancelled_jobs:
            await engine.handovers.cancel(target.caller.organization_id, target.document_id, job_id)

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Tombstone:
        if self._cancel_hand_over:
            await _record_cancelled_handover(context)
        return await super().apply(context, engine)


async def _list_pending_jobs(work: Work[Principal], document_id: UUID) -> Sequence[str]:
    return [handover.job_id for handover in await list_open_handovers(work.session, document_id) if handover.is_pending]


async def _record_cancelled_handover(context: MoveContext) -> None:
    work, document = context.work, context.document
    if document.archive_status == HandoverStatus.PENDING or await _list_pending_jobs(work, document.id):
        await AuditLog(work).record(DocumentHandOverCancelled(document.id, document.kb_id, document.name))


async def run_purge(engine: MoveEngine, move: PurgingMove, target: Target) -> PurgeResult:
    """Purge the document and prove it. A repeated call is answered from the tombstone, and proves what is left."""
    async with observe_move(move.move, target) as operation:
        tombstone = await commit_purge(engine, move, target)
        pending = (await engine.prover.prove(target.caller.organization_id, [tombstone]))[tombstone.receipt_id]
        operation.status = OperationStatus.PENDING if pending else OperationStatus.SUCCESS
    return PurgeResult(tombstone.receipt_id, pending)


async def commit_purge(engine: MoveEngine, move: PurgingMove, target: Target) -> Tombstone:
    """Purge the document without proving it, or return the tombstone of an earlier call."""
    try:
        return await engine.commit(move, target)
    except (DocumentNotFound, Forbidden):
        return await _find_tombstone(engine, move, target)


async def _find_tombstone(engine: MoveEngine, move: PurgingMove, target: Target) -> Tombstone:
    """Return the tombstone of an earlier call. Callers who could not have made it get the error they would have got."""
    async with engine.database.work(target.caller) as work:
        receipt = await ReceiptRepository(work.session).find_by_document(target.kb_id, target.document_id)
        if receipt is not None and receipt.move in move.repeated_moves:
            return Tombstone(receipt.id, target.document_id)
        await DocumentRepository(work.session).get(target.kb_id, target.document_id)
    raise Forbidden  # the document exists, and the caller may only view it
