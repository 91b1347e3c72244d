"""The look that a worker takes every night. It changes nothing: what is to be repaired, a person decides."""

from dataclasses import dataclass

import structlog

from muniment.reconcile.kept import keep, publish
from muniment.reconcile.reconciliation import Reconciliation
from muniment.storage.db.base import now
from muniment.storage.db.work import Database

log = structlog.get_logger()


@dataclass(frozen=True)
class Nightly:
    database: Database
    reconciliation: Reconciliation

    async def look(self) -> None:
        report = await self.reconciliation.reconcile(now())
        await keep(self.database, report)
        await self.publish()
        log.info("reconcile.ended", left=report.left, lost=report.lost)

    async def publish(self) -> None:
        await publish(self.database)
