"""Delete what a purged document left outside its rows: vectors, ledger entries and jobs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import structlog

from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.receipts.tables import Receipt
from muniment.errors import Unavailable
from muniment.storage.concurrency import limit_concurrency
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.ledger import Ledger, LedgerRepository
from muniment.storage.tasks.port import TaskQueue
from muniment.storage.vectors.intents import IntentRepository
from muniment.storage.vectors.port import ExternalIndex, IndexedDocument

log = structlog.get_logger()

JOB_CHECKS, JOB_CHECK_SECONDS = 5, 0.1
"""A worker that has released the document records the end of its job a moment later."""
CONCURRENCY = 4

T = TypeVar("T")


@dataclass(frozen=True)
class TraceDeletion:
    """Deletes what purged documents left in the stores."""

    database: Database
    external_index: ExternalIndex | None
    ledger: Ledger
    tasks: TaskQueue

    async def run(self, organization_id: UUID, receipts: Sequence[Receipt]) -> None:
        """Delete as much as possible; the inventory reports what is left. The caller holds the documents' locks."""
        if self.external_index is not None:
            await self._delete_vectors(self.external_index, organization_id, receipts)
        await self._process_ledger(organization_id, receipts)
        await self._delete_jobs(organization_id, [str(job) for receipt in receipts for job in receipt.found["jobs"]])

    async def _delete_vectors(self, index: ExternalIndex, organization_id: UUID, receipts: Sequence[Receipt]) -> None:
        points = await self._call_index(receipts, index.count)
        async with self.database.service_work(Service(organization_id), durable=False) as work:
            # Before anything is deleted: after a crash there would be nothing left to count.
            await ReceiptRepository(work.session).store_point_counts(points)
        for receipt in receipts:
            receipt.points = points.get(receipt.id) if receipt.points is None else receipt.points
        counted = [receipt for receipt in receipts if receipt.id in points]
        deleted = await self._call_index(counted, index.delete_document)
        async with self.database.service_work(Service(organization_id), durable=False) as work:
            document_ids = [receipt.document_id for receipt in receipts if receipt.id in deleted]
            await IntentRepository(work.session).delete_completed(document_ids)

    async def _call_index(
        self, receipts: Sequence[Receipt], call: Callable[[IndexedDocument], Awaitable[T]]
    ) -> Mapping[UUID, T]:
        """Call the index for each receipt. Return the answers by receipt, without those that failed."""
        answers: dict[UUID, T] = {}

        async def call_for(receipt: Receipt) -> None:
            try:
                answers[receipt.id] = await call(indexed_document_of(receipt))
            except Unavailable as error:
                log.warning("external_index.delete_failed", document_id=str(receipt.document_id), error=error.message)

        await asyncio.gather(*map(limit_concurrency(call_for, CONCURRENCY), receipts))
        return answers

    async def _process_ledger(self, organization_id: UUID, receipts: Sequence[Receipt]) -> None:
        async with self.database.service_work(Service(organization_id), durable=False) as work:
            due = await LedgerRepository(work.session).make_due([receipt.document_id for receipt in receipts])
        if due:
            await self.ledger.process(organization_id, due, limit=len(due))

    async def _delete_jobs(self, organization_id: UUID, job_ids: Sequence[str]) -> None:
        for _ in range(JOB_CHECKS if job_ids else 0):
            async with self.database.service_work(Service(organization_id), durable=False) as work:
                if not (remaining := await self.tasks.list_existing_jobs(work, job_ids)):
                    return
                await self.tasks.delete_jobs(work, remaining)
                if not await self.tasks.list_existing_jobs(work, remaining):
                    return
            await asyncio.sleep(JOB_CHECK_SECONDS)


def indexed_document_of(receipt: Receipt) -> IndexedDocument:
    """Return the purged document as a vector index identifies it."""
    return IndexedDocument(receipt.document_id, receipt.kb_id, receipt.organization_id)
