"""The reports that are kept, and the numbers that the metrics show of the last one."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import NotFound
from muniment.reconcile.report import Report
from muniment.reconcile.tables import ReconcileReport
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.telemetry.metrics import RECONCILE_DRIFT


class NeverReconciled(NotFound):
    """Nobody has compared the stores yet: it is done every night, or by `muniment reconcile`"""


class ReportRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, report: Report) -> None:
        counts = [{**vars(count), "left": count.left} for count in report.lines]
        kept = ReconcileReport(
            began_at=report.began_at, is_repair=report.is_repair, outcome=report.outcome, counts=counts
        )
        self._session.add(kept)
        await self._session.flush()

    async def find_latest(self) -> ReconcileReport | None:
        newest = select(ReconcileReport).order_by(ReconcileReport.ended_at.desc()).limit(1)
        return await self._session.scalar(newest)


async def keep(database: Database, report: Report) -> None:
    async with database.service_work(Service()) as work:
        await ReportRepository(work.session).add(report)


async def publish(database: Database) -> None:
    """Show what the last reconciliation left, whoever made it."""
    async with database.service_work(Service()) as work:
        latest = await ReportRepository(work.session).find_latest()
    counts = latest.counts if latest else ()
    RECONCILE_DRIFT.set({(count["store"], count["kind"]): count["left"] for count in counts})
