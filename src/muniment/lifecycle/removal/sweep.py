"""What requests could not prove in their time is proven later, organization by organization."""

from collections.abc import Sequence
from uuid import UUID

import structlog

from muniment.audit.receipts.repository import ReceiptRepository
from muniment.lifecycle.removal.finishing import Finishing, Tombstone
from muniment.storage.db.organizations import Waiting, list_waiting
from muniment.storage.db.principal import Service
from muniment.telemetry.metrics import RECEIPTS_OLDEST_SECONDS, RECEIPTS_UNFINISHED

log = structlog.get_logger()

BATCH = 50


class ReceiptSweep:
    def __init__(self, finishing: Finishing) -> None:
        self._finishing = finishing

    async def sweep(self) -> None:
        """Finish the receipts that are due, and say how many are left and how old the oldest is."""
        unsigned, oldest_seconds = 0, 0.0
        for organization_id in await list_waiting(self._finishing.database, Waiting.RECEIPTS):
            await self.finish_due(organization_id)
            async with self._finishing.database.service_work(Service(organization_id)) as work:
                count, age = await ReceiptRepository(work.session).count_unsigned()
            unsigned, oldest_seconds = unsigned + count, max(oldest_seconds, age)
        RECEIPTS_UNFINISHED.set(unsigned)
        RECEIPTS_OLDEST_SECONDS.set(oldest_seconds)

    async def finish_due(self, organization_id: UUID) -> Sequence[UUID]:
        """Those of one organization; the ids of what is signed now."""
        async with self._finishing.database.service_work(Service(organization_id)) as work:
            receipts = await ReceiptRepository(work.session).take_due(limit=BATCH)
        if not receipts:
            return []
        due = [Tombstone(receipt.id, receipt.document_id) for receipt in receipts]
        pending = await self._finishing.finish(organization_id, due)
        signed = [receipt_id for receipt_id, _ in due if not pending[receipt_id]]
        log.info("receipts.swept", organization_id=str(organization_id), signed=len(signed), tried=len(due))
        return signed
