"""Look for lost originals for a limited time, for `muniment doctor`. `muniment reconcile` compares everything."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select

from muniment.errors import Unavailable
from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.reconcile.drift import Drift, DriftKind, ReconcileScope, StoreName
from muniment.reconcile.object_references import ReferencedObject
from muniment.reconcile.objects import NO_READS, ObjectCheck, OriginalObjects
from muniment.reconcile.orphans import OrphanedObjects
from muniment.reconcile.report import DATA_MISSING, ReportRepository
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.objects.port import ObjectNotFound, ObjectStore

MAX_READ_BYTES = 16 * 1024**2
"""Of larger originals only the size is compared."""
NEVER = datetime.min.replace(tzinfo=UTC)


class OriginalsLost(Unavailable):
    """An original file is missing or damaged"""


@dataclass(frozen=True)
class SpotCheck:
    """Check that originals exist and are intact, as long as `keep_going` returns True. Nothing is changed."""

    database: Database
    objects: ObjectStore
    ledger: Ledger
    keep_going: Callable[[], bool]

    async def run(self) -> str:
        """Return what was checked, or raise `OriginalsLost`."""
        await self._require_good_report()
        for organization_id in await list_organizations(self.database):
            if not self.keep_going():
                break
            if lost := await self._find_lost(organization_id):
                raise OriginalsLost(f"The original of document {lost.document_id} is {lost.kind}")
        if not self.keep_going():
            return "no loss found in the time available"
        return "all originals are intact"

    async def _require_good_report(self) -> None:
        async with self.database.service_work(Service()) as work:
            latest = await ReportRepository(work.session).find_latest()
        if latest is not None and latest.outcome == DATA_MISSING:
            raise OriginalsLost("The last reconciliation found missing or damaged files")

    async def _find_lost(self, organization_id: UUID) -> Drift | None:
        scope, originals = await self._build_scope(organization_id), OriginalObjects(self.database, self.objects)
        orphans = OrphanedObjects(self.database, self.objects, self.ledger)
        check = ObjectCheck(self.database, self.objects, orphans, originals, NO_READS)
        for prefix in originals.prefixes(scope):
            async for referenced in originals.list_referenced(scope, prefix):
                if not self.keep_going():
                    return None
                kind = await self._classify(originals, referenced)
                if kind is not None:
                    seen = Drift(StoreName.ORIGINALS, kind, referenced.key, prefix.kb_id, is_loss=True)
                    for confirmed in await check.confirm(scope, [seen]):  # it may have been purged meanwhile
                        return confirmed
        return None

    async def _classify(self, originals: OriginalObjects, referenced: ReferencedObject) -> DriftKind | None:
        info = await self.objects.find(referenced.key)
        if info is None:
            return DriftKind.MISSING
        if referenced.size_bytes not in (None, info.size_bytes):
            return DriftKind.DAMAGED
        try:
            is_intact = info.size_bytes > MAX_READ_BYTES or await originals.is_intact(referenced)
        except ObjectNotFound:
            return DriftKind.MISSING
        return None if is_intact else DriftKind.DAMAGED

    async def _build_scope(self, organization_id: UUID) -> ReconcileScope:
        async with self.database.service_work(Service(organization_id)) as work:
            kb_ids = (await work.session.scalars(select(KnowledgeBase.id).order_by(KnowledgeBase.id))).all()
        return ReconcileScope(
            organization_id, kb_ids, covers_organization=True, unchanged_since=now(), orphans_before=NEVER
        )
