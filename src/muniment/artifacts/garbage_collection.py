"""Garbage collection of artifacts left behind by replacements and rereads: mark, wait for the grace period, sweep."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from muniment.artifacts.deletion import Marks, Unused, UnusedArtifactRepository, add_pack_lines, size_of
from muniment.audit.events import ArtifactCollected
from muniment.audit.log import AuditLog
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.objects.port import Blobs
from muniment.telemetry.metrics import ARTIFACT_BYTES_FREED

log = structlog.get_logger()

BATCH = 500


@dataclass(frozen=True)
class Collected:
    """What was done, or would be: artifacts removed and the bytes of their packs, marks made and taken back."""

    removed: int = 0
    freed_bytes: int = 0
    marked: int = 0
    unmarked: int = 0

    def __add__(self, other: "Collected") -> "Collected":
        return Collected(
            self.removed + other.removed,
            self.freed_bytes + other.freed_bytes,
            self.marked + other.marked,
            self.unmarked + other.unmarked,
        )


@dataclass(frozen=True)
class Heap:
    """Artifacts of one organization, or of all (`None`), and who clears them up."""

    organization_id: UUID | None
    worker: Service


class Collection:
    def __init__(self, database: Database, blobs: Blobs, ledger: Ledger, *, grace: timedelta) -> None:
        self._database = database
        self._blobs = blobs
        self._ledger = ledger
        self._grace = grace

    async def sweep(self) -> None:
        """Collect now, and say so in the log if there was anything."""
        collected = await self.collect(now())
        if collected != Collected():
            log.info("artifacts.collected", **vars(collected))

    async def collect(self, at: datetime, *, dry_run: bool = False) -> Collected:
        """Mark what nothing refers to, and remove what was marked a grace period ago. A dry run only counts."""
        total = Collected()
        for heap in await self._heaps():
            async for ids in self._batches(heap):
                total += await (self._count(heap, ids, at) if dry_run else self._collect(heap, ids, at))
        return total

    async def _heaps(self) -> list[Heap]:
        """What all share is cleared up in the name of one organization: the ledger has no line that belongs to none."""
        organizations = await list_organizations(self._database)
        own = [Heap(organization_id, Service(organization_id)) for organization_id in organizations]
        return [*own, *(Heap(None, heap.worker) for heap in own[:1])]

    async def _batches(self, heap: Heap) -> AsyncIterator[Sequence[UUID]]:
        after: UUID | None = None
        while True:
            async with self._database.service_work(heap.worker) as work:
                unused = UnusedArtifactRepository(work.session)
                ids = await unused.list_ids(heap.organization_id, after=after, limit=BATCH)
            if not ids:
                return
            yield ids
            after = ids[-1]

    async def _collect(self, heap: Heap, ids: Sequence[UUID], at: datetime) -> Collected:
        marks, due = await self._mark(heap, ids, at)
        removed = [await self._remove(heap, item) for item in due]
        return sum(filter(None, removed), Collected(marked=marks.made, unmarked=marks.taken_back))

    async def _mark(self, heap: Heap, ids: Sequence[UUID], at: datetime) -> tuple[Marks, Sequence[Unused]]:
        async with self._database.service_work(heap.worker) as work:
            unused = UnusedArtifactRepository(work.session)
            marks = await unused.correct_marks(ids, at)
            return marks, self._due(await unused.list_unused(ids), at)

    async def _remove(self, heap: Heap, item: Unused) -> Collected | None:
        """One at a time: whoever looks for another artifact in this moment does not wait."""
        async with self._database.service_work(heap.worker) as work:
            pack = await UnusedArtifactRepository(work.session).take(item.text_id)
            if pack is None:  # somebody took it into use, or away
                return None
            await AuditLog(work).record(ArtifactCollected(item.text_id, was_shared=heap.organization_id is None))
            line_ids = await add_pack_lines(work, [pack])
        size_bytes = await size_of(self._blobs, pack)
        ARTIFACT_BYTES_FREED.inc(size_bytes)
        assert heap.worker.organization_id is not None
        await self._ledger.carry_out(heap.worker.organization_id, line_ids)
        return Collected(removed=1, freed_bytes=size_bytes)

    async def _count(self, heap: Heap, ids: Sequence[UUID], at: datetime) -> Collected:
        async with self._database.service_work(heap.worker) as work:
            unused = await UnusedArtifactRepository(work.session).list_unused(ids)
        sizes = [await size_of(self._blobs, item.pack) for item in self._due(unused, at)]
        return Collected(
            removed=len(sizes), freed_bytes=sum(sizes), marked=sum(item.marked_at is None for item in unused)
        )

    def _due(self, unused: Sequence[Unused], at: datetime) -> Sequence[Unused]:
        return [item for item in unused if item.marked_at is not None and item.marked_at <= at - self._grace]
