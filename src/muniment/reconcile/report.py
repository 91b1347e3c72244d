"""Report of a reconciliation: counts by store and kind, and losses by name.

The last report is stored and shown by a gauge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import NotFound
from muniment.reconcile.drift import Drift, DriftKind, StoreName
from muniment.reconcile.tables import ReconcileReport
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.telemetry.metrics import RECONCILE_DRIFT

MAX_LOSSES = 1000
"""Maximum number of losses listed by name; the counts include all."""


NO_DRIFT, DRIFT_LEFT, DATA_MISSING = 0, 1, 2


@dataclass(frozen=True)
class DriftCount:
    store: str
    kind: str
    found: int = 0
    repaired: int = 0

    @property
    def remaining(self) -> int:
        return self.found - self.repaired


@dataclass(frozen=True)
class Loss:
    store: str
    kind: str
    organization_id: UUID
    document_id: UUID | None
    key: str


@dataclass
class Report:
    began_at: datetime
    is_repair: bool
    counts: dict[tuple[StoreName, DriftKind], DriftCount] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    lost: int = 0

    def add(self, drift: Drift, organization_id: UUID, *, is_repaired: bool) -> None:
        """Count a drift; losses are also listed by name."""
        key = (drift.store, drift.kind)
        count = self.counts.get(key) or DriftCount(*key)
        self.counts[key] = replace(count, found=count.found + 1, repaired=count.repaired + is_repaired)
        self.lost += drift.is_loss
        if drift.is_loss and len(self.losses) < MAX_LOSSES:
            self.losses.append(Loss(drift.store, drift.kind, organization_id, drift.document_id, drift.target))

    @property
    def rows(self) -> Sequence[DriftCount]:
        return sorted(self.counts.values(), key=lambda count: (count.store, count.kind))

    @property
    def remaining(self) -> int:
        return sum(count.remaining for count in self.counts.values())

    @property
    def outcome(self) -> int:
        """Exit code of the command: consistent, drift, or data missing."""
        if self.lost:
            return DATA_MISSING
        return DRIFT_LEFT if self.remaining else NO_DRIFT

    @property
    def as_json(self) -> Mapping[str, Any]:
        """Return the report with document ids, for the operator on the machine."""
        return {
            "began_at": self.began_at,
            "repair": self.is_repair,
            "outcome": self.outcome,
            "drift": [{**vars(count), "left": count.remaining} for count in self.rows],
            "losses": [vars(loss) for loss in self.losses],
        }


class NeverReconciled(NotFound):
    """The stores have not been compared yet. This happens every night, or with `muniment reconcile`"""


class ReportRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, report: Report) -> None:
        counts = [{**vars(count), "left": count.remaining} for count in report.rows]
        row = ReconcileReport(
            began_at=report.began_at, is_repair=report.is_repair, outcome=report.outcome, counts=counts
        )
        self._session.add(row)
        await self._session.flush()

    async def find_latest(self) -> ReconcileReport | None:
        newest = select(ReconcileReport).order_by(ReconcileReport.ended_at.desc()).limit(1)
        return await self._session.scalar(newest)


async def store_report(database: Database, report: Report) -> None:
    async with database.service_work(Service()) as work:
        await ReportRepository(work.session).add(report)


async def update_gauge(database: Database) -> None:
    """Set the gauge to what the last reconciliation left, whichever process ran it."""
    async with database.service_work(Service()) as work:
        latest = await ReportRepository(work.session).find_latest()
    counts = latest.counts if latest else ()
    RECONCILE_DRIFT.set({(count["store"], count["kind"]): count["left"] for count in counts})
