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
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.ledger import DeletionRepository, Ledger
from muniment.storage.tasks.port import Tasks
from muniment.storage.vectors.intents import IntentRepository
from muniment.storage.vectors.port import Indexed, VectorIndex

log = structlog.get_logger()

JOB_LOOKS, JOB_LOOK_SECONDS = 5, 0.1
"""A worker that has let go of the document notes the end of its job a moment later."""
CALLS_AT_ONCE = 4

Said = TypeVar("Said")


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
        points = await self._ask_index(receipts, self.index.count)
        async with self.database.service_work(Service(organization_id), lasting=False) as work:
            # Before anything is removed: whoever goes on after a crash finds nothing to count any more.
            await ReceiptRepository(work.session).note_points(points)
        for receipt in receipts:
            receipt.points = points.get(receipt.id) if receipt.points is None else receipt.points
        removed = await self._ask_index([one for one in receipts if one.id in points], self.index.remove)
        async with self.database.service_work(Service(organization_id), lasting=False) as work:
            forgotten = [receipt.document_id for receipt in receipts if receipt.id in removed]
            await IntentRepository(work.session).remove_gone(forgotten)

    async def _ask_index(
        self, receipts: Sequence[Receipt], call: Callable[[Indexed], Awaitable[Said]]
    ) -> Mapping[UUID, Said]:
        """By receipt, those about which it answered."""
        turns = asyncio.Semaphore(CALLS_AT_ONCE)
        said: dict[UUID, Said] = {}

        async def ask(receipt: Receipt) -> None:
            async with turns:
                try:
                    said[receipt.id] = await call(indexed(receipt))
                except Unavailable as error:
                    log.warning("index.removal_failed", document_id=str(receipt.document_id), error=error.message)

        await asyncio.gather(*map(ask, receipts))
        return said

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
