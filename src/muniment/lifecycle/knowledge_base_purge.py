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
from muniment.lifecycle.moves.purge import Removal
from muniment.lifecycle.observability import Outcome, measured
from muniment.lifecycle.obstacles import HandOverPending
from muniment.lifecycle.proof.prover import Tombstone
from muniment.lifecycle.rules import IllegalMove
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

log = structlog.get_logger()

REASON = "knowledge_base_removed"
BUDGET_SECONDS = 20.0
BATCH = 40
MOVED_MEANWHILE = (IllegalMove, DocumentNotFound)
"""By its worker or by somebody else: the next batch has it as it is then, if it is there."""
AT_ONCE = 4
"""Connections that one call takes: others must not wait for theirs."""


@dataclass
class Leaving:
    """What is left of a knowledge base."""

    remaining: int
    """Documents that are still there."""
    pending: int
    """Documents that are gone and not proven gone yet."""
    blocked_ids: list[UUID] = field(default_factory=list)
    """Of the remaining ones: being handed over to the archive."""

    @property
    def is_gone(self) -> bool:
        return not (self.remaining or self.pending)


@dataclass(frozen=True)
class KnowledgeBaseRemoval:
    removal: Removal
    budget_seconds: float = BUDGET_SECONDS

    async def remove(self, caller: Principal, kb_id: UUID) -> Leaving:
        """As far as it goes in the time of a request. Nothing comes into the knowledge base from now on."""
        until = time.monotonic() + self.budget_seconds
        async with measured(
            "remove_knowledge_base", kb_id=kb_id, document_id=None, user_id=caller.user_id
        ) as operation:
            await self._begin(caller, kb_id)
            stuck, blocked = await self._end_documents(caller, kb_id, until)
            await self._finish_receipts(caller, kb_id, until)
            leaving = await self._end(caller, kb_id)
            leaving.blocked_ids = blocked
            if leaving.is_gone:
                await self.removal.mover.index.forget_kb(kb_id)
            operation.status = Outcome.SUCCESS if leaving.is_gone else Outcome.PENDING
        if stuck:
            log.warning("knowledge_bases.documents_stuck", kb_id=str(kb_id), count=len(stuck))
        return leaving

    async def _begin(self, caller: Principal, kb_id: UUID) -> None:
        async with self.removal.mover.database.work(caller) as work:
            access = await _hold(work, kb_id)
            if access.kb.leaving_since is None:
                leaves = update(KnowledgeBase).where(KnowledgeBase.id == kb_id).values(leaving_since=func.now())
                await work.session.execute(leaves.execution_options(synchronize_session=False))
                documents = await _count_documents(work, kb_id)
                await AuditLog(work).record(KnowledgeBaseRemovalBegun(kb_id, access.kb.name, documents))

    async def _end_documents(self, caller: Principal, kb_id: UUID, until: float) -> tuple[list[UUID], list[UUID]]:
        """One batch after the other; those that would not go, and those of them that are being handed over."""
        stuck, blocked = list[UUID](), list[UUID]()
        while time.monotonic() < until:
            async with self.removal.mover.database.work(caller) as work:
                batch = await _list_documents(work, kb_id, besides=[*stuck, *blocked])
            if not batch:
                break
            gone = list[Tombstone]()
            for (document_id, _), ended in zip(batch, await self._end_all(caller, kb_id, batch), strict=True):
                if isinstance(ended, UUID):
                    gone.append(Tombstone(ended, document_id))
                elif not isinstance(ended, MOVED_MEANWHILE):
                    (blocked if isinstance(ended, HandOverPending) else stuck).append(document_id)
            await self.removal.finishing.finish(caller.organization_id, gone)
        return stuck, blocked

    async def _end_all(
        self, caller: Principal, kb_id: UUID, batch: Sequence[tuple[UUID, Status]]
    ) -> Sequence[UUID | MunimentError]:
        turns = asyncio.Semaphore(AT_ONCE)

        async def in_turn(document_id: UUID, status: Status) -> UUID | MunimentError:
            async with turns:
                try:
                    return await self._end_document(caller, kb_id, document_id, status)
                except MunimentError as error:
                    log.info("knowledge_bases.document_stays", document_id=str(document_id), error=error.message)
                    return error

        return await asyncio.gather(*(in_turn(*one) for one in batch))

    async def _end_document(self, caller: Principal, kb_id: UUID, document_id: UUID, status: Status) -> UUID:
        """By the moves that lead out, whatever its status: the receipt that is to be finished."""
        removal, mover = self.removal, self.removal.mover
        if status in (Status.PENDING, Status.PROCESSING):
            await cancel(mover.database, mover.tasks, caller, kb_id, document_id)
        if status is Status.COMPLETED:
            await archive(mover, caller, kb_id, document_id)
        if status in (Status.COMPLETED, Status.ARCHIVED):
            return await removal.take_purged(caller, kb_id, document_id, cancel_hand_over=False, bulk=True)
        return await removal.take_cleared(caller, kb_id, document_id, reason=REASON)

    async def _finish_receipts(self, caller: Principal, kb_id: UUID, until: float) -> None:
        """What an earlier call could not prove."""
        tried = set[UUID]()
        while time.monotonic() < until:
            async with self.removal.mover.database.work(caller) as work:
                unsigned = await ReceiptRepository(work.session).list_unsigned_of(kb_id, limit=len(tried) + BATCH)
            new = [Tombstone(one.id, one.document_id) for one in unsigned if one.id not in tried]
            if not new:
                break
            tried |= {tombstone.receipt_id for tombstone in new}
            await self.removal.finishing.finish(caller.organization_id, new)

    async def _end(self, caller: Principal, kb_id: UUID) -> Leaving:
        async with self.removal.mover.database.work(caller) as work:
            access = await _hold(work, kb_id)
            pending = await ReceiptRepository(work.session).count_unsigned_of(kb_id)
            leaving = Leaving(await _count_documents(work, kb_id), pending)
            if leaving.is_gone:
                await KnowledgeBaseRepository(work.session).remove(access.kb)
                await AuditLog(work).record(KnowledgeBaseDeleted(kb_id, access.kb.name))
        return leaving


async def _hold(work: Work[Principal], kb_id: UUID) -> Access:
    access = await get_access(work, kb_id)
    access.require_manage()
    await KnowledgeBaseRepository(work.session).lock(access.kb)
    return access


async def _count_documents(work: Work[Principal], kb_id: UUID) -> int:
    return sum((await KnowledgeBaseRepository(work.session).counts_of(kb_id)).values())


async def _list_documents(
    work: Work[Principal], kb_id: UUID, *, besides: Sequence[UUID]
) -> Sequence[tuple[UUID, Status]]:
    following = select(Document.id, Document.status).where(Document.kb_id == kb_id, Document.id.not_in(besides))
    found = await work.session.execute(following.order_by(Document.id).limit(BATCH))
    return [(document_id, Status(status)) for document_id, status in found]
