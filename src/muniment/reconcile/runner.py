"""Reconcile organization by organization: scan, confirm, repair what is safe, and report (invariant I10).

The nightly run changes nothing; a person decides what is repaired.
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
from muniment.reconcile.drift import Comparison, Drift, Kind, Scope
from muniment.reconcile.report import Report, keep, publish
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations

log = structlog.get_logger()


BATCH = 100


T = TypeVar("T")


class Watcher(Protocol):
    """Whoever wants to see how it goes."""

    def begin(self, what: str, documents: int) -> None: ...

    def advance(self, documents: int) -> None: ...


class Nobody:
    def begin(self, what: str, documents: int) -> None:
        pass

    def advance(self, documents: int) -> None:
        pass


@dataclass(frozen=True)
class Patience:
    """How long things may be on their way."""

    settled: timedelta = timedelta(minutes=10)
    """Rows that changed less than this ago are left alone."""
    litter: timedelta = timedelta(days=1)
    """Objects that are younger are never litter."""


@dataclass(frozen=True)
class Reconciliation:
    database: Database
    comparisons: Sequence[Comparison]
    of_installation: Sequence[Comparison]
    """Those that look at what belongs to no organization alone; they work in the name of the first."""
    patience: Patience = Patience()

    async def reconcile(
        self, now: datetime, *, repair: bool = False, kb_ids: Sequence[UUID] = (), watcher: Watcher | None = None
    ) -> Report:
        """The whole installation, or these knowledge bases. Without `repair` nothing is changed."""
        report, watcher = Report(now, repair), watcher or Nobody()
        organizations = await list_organizations(self.database)
        for number, organization_id in enumerate(organizations):
            scope = await self._scope(organization_id, now, kb_ids, watcher)
            documents = await self._count(scope)
            whole = self.of_installation if number == 0 and scope.is_whole else ()
            for comparison in (*self.comparisons, *whole):
                watcher.begin(comparison.store, documents)
                await self._run(comparison, scope, report)
        return report

    async def _scope(self, organization_id: UUID, now: datetime, kb_ids: Sequence[UUID], watcher: Watcher) -> Scope:
        async with self.database.service_work(Service(organization_id)) as work:
            found = (await work.session.scalars(select(KnowledgeBase.id).order_by(KnowledgeBase.id))).all()
        return Scope(
            organization_id,
            [kb_id for kb_id in found if not kb_ids or kb_id in kb_ids],
            is_whole=not kb_ids,
            settled_before=now - self.patience.settled,
            litter_before=now - self.patience.litter,
            advance=watcher.advance,
        )

    async def _count(self, scope: Scope) -> int:
        documents = select(func.count()).select_from(Document).where(Document.kb_id.in_(scope.kb_ids))
        async with self.database.service_work(scope.service) as work:
            return await work.session.scalar(documents) or 0

    async def _run(self, comparison: Comparison, scope: Scope, report: Report) -> None:
        try:
            async for seen in _batches(comparison.look(scope)):
                for drift in await comparison.confirm(scope, seen):
                    is_repaired = report.is_repair and await comparison.repair(scope, drift)
                    report.add(drift, scope.organization_id, is_repaired=is_repaired)
                    _tell(drift, is_repaired=is_repaired)
        except MunimentError as error:  # one store that is away must not hide what the others have to say
            log.warning("reconcile.unreachable", store=comparison.store, error=error.message)
            unknown = Drift(comparison.store, Kind.UNREACHABLE, comparison.store)
            report.add(unknown, scope.organization_id, is_repaired=False)


def _tell(drift: Drift, *, is_repaired: bool) -> None:
    say = log.error if drift.is_loss else log.warning
    say(
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
