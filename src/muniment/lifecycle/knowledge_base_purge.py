"""Purge a knowledge base with all its documents, each of which leaves a receipt.

This may take several requests. The row of the knowledge base stores when the deletion started, and everything else is
read from what is left, so that a repeated call continues where the last one ended, even after a crash.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import starmap
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
from muniment.lifecycle.engine import MoveEngine, Target
from muniment.lifecycle.moves.archive import Archive
from muniment.lifecycle.moves.cancel import Cancel
from muniment.lifecycle.moves.clear import Clear
from muniment.lifecycle.moves.purge import Purge, commit_purge
from muniment.lifecycle.observability import OperationStatus, observe
from muniment.lifecycle.obstacles import HandoverPending
from muniment.lifecycle.proof.prover import Tombstone
from muniment.lifecycle.rules import MoveNotAllowed
from muniment.storage.concurrency import limit_concurrency
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

log = structlog.get_logger()

REASON = "knowledge_base_removed"
BUDGET_SECONDS = 20.0
BATCH = 40
CHANGED_CONCURRENTLY = (MoveNotAllowed, DocumentNotFound)
"""The document changed concurrently. The next batch reads its new status."""
CONCURRENCY = 4
"""Database connections that one call may occupy, so that other requests get theirs."""


@dataclass
class PurgeProgress:
    """What is left of a knowledge base."""

    remaining: int
    """Documents that still exist."""
    pending: int
    """Documents that are deleted and whose receipt is not signed yet."""
    blocked_ids: list[UUID] = field(default_factory=list)
    """Remaining documents that are being handed over to Paperless."""

    @property
    def is_complete(self) -> bool:
        return not (self.remaining or self.pending)


@dataclass(frozen=True)
class KnowledgeBasePurge:
    """Purges a knowledge base in steps, each of which can be repeated."""

    engine: MoveEngine
    budget_seconds: float = BUDGET_SECONDS

    async def run(self, caller: Principal, kb_id: UUID) -> PurgeProgress:
        """Purge as much as the time of a request allows. From now on the knowledge base accepts no documents."""
        until = time.monotonic() + self.budget_seconds
        async with observe("remove_knowledge_base", kb_id=kb_id, document_id=None, user_id=caller.user_id) as operation:
            await self._begin(caller, kb_id)
            failed, blocked = await self._purge_batches(caller, kb_id, until)
            await self._prove_receipts(caller, kb_id, until)
            progress = await self._finish(caller, kb_id)
            progress.blocked_ids = blocked
            if progress.is_complete:
                await self.engine.index.delete_collection(kb_id)
            operation.status = OperationStatus.SUCCESS if progress.is_complete else OperationStatus.PENDING
        if failed:
            log.warning("knowledge_bases.purge_incomplete", kb_id=str(kb_id), count=len(failed))
        return progress

    async def _begin(self, caller: Principal, kb_id: UUID) -> None:
        async with self.engine.database.work(caller) as work:
            access = await _lock_managed(work, kb_id)
            if access.kb.leaving_since is None:
                start = update(KnowledgeBase).where(KnowledgeBase.id == kb_id).values(leaving_since=func.now())
                await work.session.execute(start.execution_options(synchronize_session=False))
                documents = await _count_documents(work, kb_id)
                await AuditLog(work).record(KnowledgeBaseRemovalBegun(kb_id, access.kb.name, documents))

    async def _purge_batches(self, caller: Principal, kb_id: UUID, until: float) -> tuple[list[UUID], list[UUID]]:
        """Purge batch after batch. Return the documents that failed, and those that are being handed over."""
        failed, blocked = list[UUID](), list[UUID]()
        while time.monotonic() < until:
            async with self.engine.database.work(caller) as work:
                batch = await _list_documents(work, kb_id, except_ids=[*failed, *blocked])
            if not batch:
                break
            tombstones = list[Tombstone]()
            for (document_id, _), result in zip(batch, await self._purge_batch(caller, kb_id, batch), strict=True):
                if isinstance(result, Tombstone):
                    tombstones.append(result)
                elif not isinstance(result, CHANGED_CONCURRENTLY):
                    (blocked if isinstance(result, HandoverPending) else failed).append(document_id)
            await self.engine.prover.prove(caller.organization_id, tombstones)
        return failed, blocked

    async def _purge_batch(
        self, caller: Principal, kb_id: UUID, batch: Sequence[tuple[UUID, Status]]
    ) -> Sequence[Tombstone | MunimentError]:
        async def purge_one(document_id: UUID, status: Status) -> Tombstone | MunimentError:
            try:
                return await self._purge_document(Target(caller, kb_id, document_id), status)
            except MunimentError as error:
                log.info("knowledge_bases.document_not_purged", document_id=str(document_id), error=error.message)
                return error

        return await asyncio.gather(*starmap(limit_concurrency(purge_one, CONCURRENCY), batch))

    async def _purge_document(self, target: Target, status: Status) -> Tombstone:
        """Make the moves that lead from this status to the removal of the document."""
        if status in (Status.PENDING, Status.PROCESSING):
            await self.engine.run(Cancel(), target)
        if status is Status.COMPLETED:
            await self.engine.run(Archive(), target)
        is_archived = status in (Status.COMPLETED, Status.ARCHIVED)
        return await commit_purge(self.engine, Purge(bulk=True) if is_archived else Clear(reason=REASON), target)

    async def _prove_receipts(self, caller: Principal, kb_id: UUID, until: float) -> None:
        """Prove receipts that earlier calls could not prove."""
        tried = set[UUID]()
        while time.monotonic() < until:
            async with self.engine.database.work(caller) as work:
                unsigned = await ReceiptRepository(work.session).list_unsigned_in(kb_id, limit=len(tried) + BATCH)
            new = [Tombstone(receipt.id, receipt.document_id) for receipt in unsigned if receipt.id not in tried]
            if not new:
                break
            tried |= {tombstone.receipt_id for tombstone in new}
            await self.engine.prover.prove(caller.organization_id, new)

    async def _finish(self, caller: Principal, kb_id: UUID) -> PurgeProgress:
        async with self.engine.database.work(caller) as work:
            access = await _lock_managed(work, kb_id)
            pending = await ReceiptRepository(work.session).count_unsigned_in(kb_id)
            progress = PurgeProgress(await _count_documents(work, kb_id), pending)
            if progress.is_complete:
                await KnowledgeBaseRepository(work.session).delete(access.kb)
                await AuditLog(work).record(KnowledgeBaseDeleted(kb_id, access.kb.name))
        return progress


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
