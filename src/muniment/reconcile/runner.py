"""Reconcile organization by organization: scan, confirm, repair what is safe, and report (docs/design.md#i10).

The nightly run changes nothing; an operator decides what is repaired.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar
from uuid import UUID

import structlog
from sqlalchemy import func, select

from muniment.documents.tables import Document
from muniment.errors import MunimentError
from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.reconcile.drift import Drift, DriftKind, ReconcileCheck, ReconcileScope
from muniment.reconcile.report import Report, store_report, update_gauge
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations

log = structlog.get_logger()


BATCH = 100


T = TypeVar("T")


class ProgressListener(Protocol):
    """Callbacks for showing progress."""

    def begin(self, what: str, documents: int) -> None: ...

    def advance(self, documents: int) -> None: ...


class NoProgress:
    def begin(self, what: str, documents: int) -> None:
        pass

    def advance(self, documents: int) -> None:
        pass


@dataclass(frozen=True)
class GracePeriods:
    """How old something must be before it can count as drift."""

    unchanged: timedelta = timedelta(minutes=10)
    """Rows changed more recently are ignored."""
    orphans: timedelta = timedelta(days=1)
    """Younger objects are never orphans."""


@dataclass(frozen=True)
class ReconcileRunner:
    database: Database
    checks: Sequence[ReconcileCheck]
    global_checks: Sequence[ReconcileCheck]
    """Checks of objects that belong to no single organization. They run as the first organization."""
    grace_periods: GracePeriods = GracePeriods()

    async def reconcile(
        self,
        now: datetime,
        *,
        repair: bool = False,
        kb_ids: Sequence[UUID] = (),
        listener: ProgressListener | None = None,
    ) -> Report:
        """Reconcile the whole installation, or these knowledge bases. Without `repair` nothing is changed."""
        report, listener = Report(now, repair), listener or NoProgress()
        organizations = await list_organizations(self.database)
        for number, organization_id in enumerate(organizations):
            scope = await self._build_scope(organization_id, now, kb_ids, listener)
            documents = await self._count_documents(scope)
            whole = self.global_checks if number == 0 and scope.covers_organization else ()
            for comparison in (*self.checks, *whole):
                listener.begin(comparison.store, documents)
                await self._run_check(comparison, scope, report)
        return report

    async def _build_scope(
        self, organization_id: UUID, now: datetime, kb_ids: Sequence[UUID], listener: ProgressListener
    ) -> ReconcileScope:
        async with self.database.service_work(Service(organization_id)) as work:
            found = (await work.session.scalars(select(KnowledgeBase.id).order_by(KnowledgeBase.id))).all()
        return ReconcileScope(
            organization_id,
            [kb_id for kb_id in found if not kb_ids or kb_id in kb_ids],
            covers_organization=not kb_ids,
            unchanged_since=now - self.grace_periods.unchanged,
            orphans_before=now - self.grace_periods.orphans,
            report_progress=listener.advance,
        )

    async def _count_documents(self, scope: ReconcileScope) -> int:
        documents = select(func.count()).select_from(Document).where(Document.kb_id.in_(scope.kb_ids))
        async with self.database.service_work(scope.service) as work:
            return await work.session.scalar(documents) or 0

    async def _run_check(self, check: ReconcileCheck, scope: ReconcileScope, report: Report) -> None:
        try:
            async for seen in _batches(check.scan(scope)):
                for drift in await check.confirm(scope, seen):
                    is_repaired = report.is_repair and await check.repair(scope, drift)
                    report.add(drift, scope.organization_id, is_repaired=is_repaired)
                    _log_drift(drift, is_repaired=is_repaired)
        except MunimentError as error:  # an unavailable store must not hide the findings of the others
            log.warning("reconcile.unreachable", store=check.store, error=error.message)
            unknown = Drift(check.store, DriftKind.UNREACHABLE, check.store)
            report.add(unknown, scope.organization_id, is_repaired=False)


def _log_drift(drift: Drift, *, is_repaired: bool) -> None:
    write = log.error if drift.is_loss else log.warning
    write(
        "reconcile.drift",
        store=drift.store,
        kind=drift.kind,
        target=drift.target,
        document_id=str(drift.document_id) if drift.document_id else None,
        is_repaired=is_repaired,
    )


async def _batches(found: AsyncIterator[T]) -> AsyncIterator[Sequence[T]]:
    batch: list[T] = []
    async for each in found:
        batch.append(each)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass(frozen=True)
class NightlyReconcile:
    database: Database
    runner: ReconcileRunner

    async def run(self) -> None:
        report = await self.runner.reconcile(now())
        await store_report(self.database, report)
        await self.update_gauge()
        log.info("reconcile.ended", left=report.remaining, lost=report.lost)

    async def update_gauge(self) -> None:
        await update_gauge(self.database)
