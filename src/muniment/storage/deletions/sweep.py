"""The sweep of the deletion ledger: the periodic job that deletes what a request or a crash left."""

from dataclasses import dataclass

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, PendingWork, list_organizations_with
from muniment.storage.deletions.ledger import Ledger, LedgerRepository
from muniment.telemetry.metrics import DELETIONS_OLDEST_SECONDS, DELETIONS_PENDING

BATCH = 100


@dataclass(frozen=True)
class LedgerSweep:
    """Processes the ledgers of all organizations."""

    database: Database
    ledger: Ledger

    async def run(self) -> None:
        """Process one batch of due entries per organization, and update the gauges of what is left."""
        pending, oldest_seconds = 0, 0.0
        for organization_id in await list_organizations_with(self.database, PendingWork.DELETIONS):
            await self.ledger.process(organization_id, limit=BATCH)
            async with self.database.service_work(Service(organization_id)) as work:
                count, age = await LedgerRepository(work.session).count_pending()
            pending, oldest_seconds = pending + count, max(oldest_seconds, age)
        DELETIONS_PENDING.set(pending)
        DELETIONS_OLDEST_SECONDS.set(oldest_seconds)
