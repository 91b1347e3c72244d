"""The first half of a proof: everything that a document left is taken out of the stores outside its rows."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.receipts.tables import Receipt
from muniment.errors import Unavailable
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.ledger import DeletionRepository, Ledger
from muniment.storage.index_intents.repository import IntentRepository
from muniment.storage.tasks.port import Tasks
from muniment.storage.vectors.port import Indexed, VectorIndex

log = structlog.get_logger()

JOB_LOOKS, JOB_LOOK_SECONDS = 5, 0.1
"""A worker that has let go of the document notes the end of its job a moment later."""
CALLS_AT_ONCE = 4


@dataclass(frozen=True)
class Erasing:
    database: Database
    index: VectorIndex
    ledger: Ledger
    tasks: Tasks

    async def erase(self, organization_id: UUID, receipts: Sequence[Receipt]) -> None:
        """As far as it goes: the second look tells what is left. Whoever calls holds the documents' locks."""
        if self.index.holds_copies:
            await self._forget(organization_id, receipts)
        await self._carry_out(organization_id, receipts)
        await self._remove_jobs(organization_id, [job for receipt in receipts for job in receipt.found["jobs"]])

    async def _forget(self, organization_id: UUID, receipts: Sequence[Receipt]) -> None:
        turns = asyncio.Semaphore(CALLS_AT_ONCE)

        async def forget(receipt: Receipt) -> int | None:
            async with turns:
                return await self._forget_one(receipt)

        counts = await asyncio.gather(*(forget(receipt) for receipt in receipts))
        points = {one.id: count for one, count in zip(receipts, counts, strict=True) if count is not None}
        async with self.database.service_work(Service(organization_id), lasting=False) as work:
            await ReceiptRepository(work.session).note_points(points)
            forgotten = [receipt.document_id for receipt in receipts if receipt.id in points]
            await IntentRepository(work.session).remove_gone(forgotten)
        for receipt in receipts:
            receipt.points = points.get(receipt.id) if receipt.points is None else receipt.points

    async def _forget_one(self, receipt: Receipt) -> int | None:
        """How many points there were; `None` if it is not certain that they are gone."""
        try:
            points = await self.index.count(indexed(receipt))
            await self.index.remove(indexed(receipt))
        except Unavailable as error:
            log.warning("index.removal_failed", document_id=str(receipt.document_id), error=error.message)
            return None
        return points

    async def _carry_out(self, organization_id: UUID, receipts: Sequence[Receipt]) -> None:
        async with self.database.service_work(Service(organization_id), lasting=False) as work:
            due = await DeletionRepository(work.session).hasten([receipt.document_id for receipt in receipts])
        if due:
            await self.ledger.carry_out(organization_id, due, limit=len(due))

    async def _remove_jobs(self, organization_id: UUID, job_ids: Sequence[int]) -> None:
        for _ in range(JOB_LOOKS if job_ids else 0):
            async with self.database.service_work(Service(organization_id), lasting=False) as work:
                if not (left := await self.tasks.list_known(work, job_ids)):
                    return
                await self.tasks.forget_jobs(work, left)
                if not await self.tasks.list_known(work, left):
                    return
            await asyncio.sleep(JOB_LOOK_SECONDS)


def indexed(receipt: Receipt) -> Indexed:
    return Indexed(receipt.document_id, receipt.kb_id, receipt.organization_id)
