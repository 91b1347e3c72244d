"""Garbage collection of artifacts left behind by replacements and rereads: mark, wait for the grace period, sweep."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from muniment.artifacts.deletion import (
    MarkCounts,
    UnreferencedArtifact,
    UnreferencedArtifactRepository,
    add_pack_deletions,
    pack_size_bytes,
)
from muniment.audit.events import ArtifactCollected
from muniment.audit.log import AuditLog
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.objects.port import ObjectStore
from muniment.telemetry.metrics import ARTIFACT_BYTES_FREED

log = structlog.get_logger()

BATCH = 500


@dataclass(frozen=True)
class CollectionResult:
    """Result of a collection or of its dry run: deleted artifacts, bytes of their packs, and changed marks."""

    removed: int = 0
    freed_bytes: int = 0
    marked: int = 0
    unmarked: int = 0

    def __add__(self, other: "CollectionResult") -> "CollectionResult":
        return CollectionResult(
            self.removed + other.removed,
            self.freed_bytes + other.freed_bytes,
            self.marked + other.marked,
            self.unmarked + other.unmarked,
        )


@dataclass(frozen=True)
class CollectionScope:
    """Artifacts of one organization, or those that all share (`None`), and the organization that deletes them."""

    organization_id: UUID | None
    worker: Service


class ArtifactGarbageCollector:
    def __init__(self, database: Database, objects: ObjectStore, ledger: Ledger, *, grace: timedelta) -> None:
        self._database = database
        self._objects = objects
        self._ledger = ledger
        self._grace = grace

    async def sweep(self) -> None:
        """Collect now, and log the result unless it is empty."""
        collected = await self.collect(now())
        if collected != CollectionResult():
            log.info("artifacts.collected", **vars(collected))

    async def collect(self, at: datetime, *, dry_run: bool = False) -> CollectionResult:
        """Mark unreferenced artifacts and delete those marked a grace period ago. A dry run only counts."""
        total = CollectionResult()
        for heap in await self._list_scopes():
            async for ids in self._iterate_batches(heap):
                total += await (self._count_batch(heap, ids, at) if dry_run else self._collect_batch(heap, ids, at))
        return total

    async def _list_scopes(self) -> list[CollectionScope]:
        """Return what to collect. One organization deletes shared artifacts, because ledger entries need one."""
        organizations = await list_organizations(self._database)
        own = [CollectionScope(organization_id, Service(organization_id)) for organization_id in organizations]
        return [*own, *(CollectionScope(None, heap.worker) for heap in own[:1])]

    async def _iterate_batches(self, scope: CollectionScope) -> AsyncIterator[Sequence[UUID]]:
        after: UUID | None = None
        while True:
            async with self._database.service_work(scope.worker) as work:
                unused = UnreferencedArtifactRepository(work.session)
                ids = await unused.list_ids(scope.organization_id, after=after, limit=BATCH)
            if not ids:
                return
            yield ids
            after = ids[-1]

    async def _collect_batch(self, scope: CollectionScope, ids: Sequence[UUID], at: datetime) -> CollectionResult:
        marks, due = await self._mark_batch(scope, ids, at)
        removed = [await self._delete(scope, item) for item in due]
        return sum(filter(None, removed), CollectionResult(marked=marks.marked, unmarked=marks.unmarked))

    async def _mark_batch(
        self, scope: CollectionScope, ids: Sequence[UUID], at: datetime
    ) -> tuple[MarkCounts, Sequence[UnreferencedArtifact]]:
        async with self._database.service_work(scope.worker) as work:
            unused = UnreferencedArtifactRepository(work.session)
            marks = await unused.update_marks(ids, at)
            return marks, self._filter_due(await unused.list_unreferenced(ids), at)

    async def _delete(self, scope: CollectionScope, item: UnreferencedArtifact) -> CollectionResult | None:
        """Delete one artifact per transaction, so that a run that needs another one does not wait."""
        async with self._database.service_work(scope.worker) as work:
            pack = await UnreferencedArtifactRepository(work.session).delete_if_unreferenced(item.text_id)
            if pack is None:  # it is referenced again, or already deleted
                return None
            await AuditLog(work).record(ArtifactCollected(item.text_id, was_shared=scope.organization_id is None))
            line_ids = await add_pack_deletions(work, [pack])
        size_bytes = await pack_size_bytes(self._objects, pack)
        ARTIFACT_BYTES_FREED.inc(size_bytes)
        assert scope.worker.organization_id is not None
        await self._ledger.process(scope.worker.organization_id, line_ids)
        return CollectionResult(removed=1, freed_bytes=size_bytes)

    async def _count_batch(self, scope: CollectionScope, ids: Sequence[UUID], at: datetime) -> CollectionResult:
        async with self._database.service_work(scope.worker) as work:
            unused = await UnreferencedArtifactRepository(work.session).list_unreferenced(ids)
        sizes = [await pack_size_bytes(self._objects, item.pack_key) for item in self._filter_due(unused, at)]
        return CollectionResult(
            removed=len(sizes), freed_bytes=sum(sizes), marked=sum(item.marked_at is None for item in unused)
        )

    def _filter_due(self, unreferenced: Sequence[UnreferencedArtifact], at: datetime) -> Sequence[UnreferencedArtifact]:
        return [item for item in unreferenced if item.marked_at is not None and item.marked_at <= at - self._grace]
