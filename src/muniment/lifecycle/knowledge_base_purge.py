"""Purge a knowledge base with all its documents, each of which leaves a receipt.

This may take several requests. The row of the knowledge base stores when the deletion started, and everything else is
read from what is left, so that a repeated call continues where the last one ended, even after a crash.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from sqlalchemy import func, select, update

from muniment.audit.events import KnowledgeBaseDeleted, KnowledgeBaseRemovalBegun
from muniment.audit.log import AuditLog
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.documents.repository import DocumentNotFound
from muniment.documents.tables import Document, Status
from muniment.errors import MunimentError
from muniment.knowledge_bases.access import Access, get_access
from muniment.knowledge_bases.repository import KnowledgeBaseRepository
from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.lifecycle.moves.archive import archive
from muniment.lifecycle.moves.cancel import cancel
from muniment.lifecycle.moves.purge import PurgeService
from muniment.lifecycle.observability import OperationStatus, observe
from muniment.lifecycle.obstacles import HandoverPending
from muniment.lifecycle.proof.prover import Tombstone
from muniment.lifecycle.rules import MoveNotAllowed
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

log = structlog.get_logger()

REASON = "knowledge_base_removed"
BUDGET_SECONDS = 20.0
BATCH = 40
CHANGED_CONCURRENTLY = (MoveNotAllowed, DocumentNotFound)
"""By its worker or by somebody else: the next batch has it as it is then, if it is there."""
CONCURRENCY = 4
"""Connections that one call takes: others must not wait for theirs."""


@dataclass
class PurgeProgress:
    """What is left of a knowledge base."""

    remaining: int
    """Documents that are still there."""
    pending: int
    """Documents that are gone and not proven gone yet."""
    blocked_ids: list[UUID] = field(default_factory=list)
    """Of the remaining ones: being handed over to the archive."""

    @property
    def is_complete(self) -> bool:
        return not (self.remaining or self.pending)


@dataclass(frozen=True)
class KnowledgeBasePurge:
    purges: PurgeService
    budget_seconds: float = BUDGET_SECONDS

    async def run(self, caller: Principal, kb_id: UUID) -> PurgeProgress:
        """As far as it goes in the time of a request. Nothing comes into the knowledge base from now on."""
        until = time.monotonic() + self.budget_seconds
        async with observe("remove_knowledge_base", kb_id=kb_id, document_id=None, user_id=caller.user_id) as operation:
            await self._begin(caller, kb_id)
            stuck, blocked = await self._purge_batches(caller, kb_id, until)
            await self._prove_receipts(caller, kb_id, until)
            leaving = await self._finish(caller, kb_id)
            leaving.blocked_ids = blocked
            if leaving.is_complete:
                await self.purges.engine.index.delete_collection(kb_id)
            operation.status = OperationStatus.SUCCESS if leaving.is_complete else OperationStatus.PENDING
        if stuck:
            log.warning("knowledge_bases.documents_stuck", kb_id=str(kb_id), count=len(stuck))
        return leaving

    async def _begin(self, caller: Principal, kb_id: UUID) -> None:
        async with self.purges.engine.database.work(caller) as work:
            access = await _lock_managed(work, kb_id)
            if access.kb.leaving_since is None:
                leaves = update(KnowledgeBase).where(KnowledgeBase.id == kb_id).values(leaving_since=func.now())
                await work.session.execute(leaves.execution_options(synchronize_session=False))
                documents = await _count_documents(work, kb_id)
                await AuditLog(work).record(KnowledgeBaseRemovalBegun(kb_id, access.kb.name, documents))

    async def _purge_batches(self, caller: Principal, kb_id: UUID, until: float) -> tuple[list[UUID], list[UUID]]:
        """One batch after the other; those that would not go, and those of them that are being handed over."""
        stuck, blocked = list[UUID](), list[UUID]()
        while time.monotonic() < until:
            async with self.purges.engine.database.work(caller) as work:
                batch = await _list_documents(work, kb_id, except_ids=[*stuck, *blocked])
            if not batch:
                break
            gone = list[Tombstone]()
            for (document_id, _), ended in zip(batch, await self._purge_batch(caller, kb_id, batch), strict=True):
                if isinstance(ended, UUID):
                    gone.append(Tombstone(ended, document_id))
                elif not isinstance(ended, CHANGED_CONCURRENTLY):
                    (blocked if isinstance(ended, HandoverPending) else stuck).append(document_id)
            await self.purges.prover.prove(caller.organization_id, gone)
        return stuck, blocked

    async def _purge_batch(
        self, caller: Principal, kb_id: UUID, batch: Sequence[tuple[UUID, Status]]
    ) -> Sequence[UUID | MunimentError]:
        turns = asyncio.Semaphore(CONCURRENCY)

        async def in_turn(document_id: UUID, status: Status) -> UUID | MunimentError:
            async with turns:
                try:
                    return await self._purge_document(caller, kb_id, document_id, status)
                except MunimentError as error:
                    log.info("knowledge_bases.document_stays", document_id=str(document_id), error=error.message)
                    return error

        return await asyncio.gather(*(in_turn(*one) for one in batch))

    async def _purge_document(self, caller: Principal, kb_id: UUID, document_id: UUID, status: Status) -> UUID:
        """By the moves that lead out, whatever its status: the receipt that is to be finished."""
        removal, mover = self.purges, self.purges.engine
        if status in (Status.PENDING, Status.PROCESSING):
            await cancel(mover.database, mover.tasks, caller, kb_id, document_id)
        if status is Status.COMPLETED:
            await archive(mover, caller, kb_id, document_id)
        if status in (Status.COMPLETED, Status.ARCHIVED):
            return await removal.commit_purge(caller, kb_id, document_id, cancel_hand_over=False, bulk=True)
        return await removal.commit_clear(caller, kb_id, document_id, reason=REASON)

    async def _prove_receipts(self, caller: Principal, kb_id: UUID, until: float) -> None:
        """What an earlier call could not prove."""
        tried = set[UUID]()
        while time.monotonic() < until:
            async with self.purges.engine.database.work(caller) as work:
                unsigned = await ReceiptRepository(work.session).list_unsigned_in(kb_id, limit=len(tried) + BATCH)
            new = [Tombstone(one.id, one.document_id) for one in unsigned if one.id not in tried]
            if not new:
                break
            tried |= {tombstone.receipt_id for tombstone in new}
            await self.purges.prover.prove(caller.organization_id, new)

    async def _finish(self, caller: Principal, kb_id: UUID) -> PurgeProgress:
        async with self.purges.engine.database.work(caller) as work:
            access = await _lock_managed(work, kb_id)
            pending = await ReceiptRepository(work.session).count_unsigned_in(kb_id)
            leaving = PurgeProgress(await _count_documents(work, kb_id), pending)
            if leaving.is_complete:
                await KnowledgeBaseRepository(work.session).delete(access.kb)
                await AuditLog(work).record(KnowledgeBaseDeleted(kb_id, access.kb.name))
        return leaving


async def _lock_managed(work: Work[Principal], kb_id: UUID) -> Access:
    access = await get_access(work, kb_id)
    access.require_manage()
    await KnowledgeBaseRepository(work.session).lock(access.kb)
    return access


async def _count_documents(work: Work[Principal], kb_id: UUID) -> int:
    return sum((await KnowledgeBaseRepository(work.session).count_documents(kb_id)).values())


async def _list_documents(
    work: Work[Principal], kb_id: UUID, *, except_ids: Sequence[UUID]
) -> Sequence[tuple[UUID, Status]]:
    following = select(Document.id, Document.status).where(Document.kb_id == kb_id, Document.id.not_in(except_ids))
    found = await work.session.execute(following.order_by(Document.id).limit(BATCH))
    return [(document_id, Status(status)) for document_id, status in found]
