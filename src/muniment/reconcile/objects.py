"""Compare rows with objects: every referenced object must exist, and every object must be referenced.

Originals are stored below the ids of their knowledge base and document; text packs below the id of the organization
that owns them, or below `shared`. A random sample is read completely.
"""

import hashlib
import random
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from muniment.artifacts.text_packs import ArtifactDamaged, stream_full_text
from muniment.errors import Invalid
from muniment.reconcile.drift import Drift, DriftKind, ReconcileScope, StoreName
from muniment.reconcile.object_references import ObjectReferenceRepository, ReferencedObject
from muniment.reconcile.orphans import OrphanedObjects
from muniment.storage.db.base import FIRST_ID
from muniment.storage.db.work import Database
from muniment.storage.objects.port import ObjectInfo, ObjectNotFound, ObjectStore

Left = TypeVar("Left")


Right = TypeVar("Right")


async def merge_join(
    left: AsyncIterator[Left],
    right: AsyncIterator[Right],
    *,
    left_key: Callable[[Left], str],
    right_key: Callable[[Right], str],
) -> AsyncIterator[tuple[Left | None, Right | None]]:
    """Join two sorted streams by key in constant memory; a missing side is `None`."""
    one, other = await anext(left, None), await anext(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and left_key(one) < right_key(other)):
            yield one, None
            one = await anext(left, None)
        elif one is None or right_key(other) < left_key(one):
            yield None, other
            other = await anext(right, None)
        else:
            yield one, other
            one, other = await anext(left, None), await anext(right, None)


_PERCENTAGE = re.compile(r"(\d+(?:\.\d+)?)%")


class InvalidSample(Invalid):
    """The share to read must be a percentage, for example 5%"""


@dataclass(frozen=True)
class ReadSample:
    fraction: float = 0.0
    random_source: Callable[[], float] = random.random

    def selects(self) -> bool:
        return self.random_source() < self.fraction


NO_READS = ReadSample()


def parse_sample(text: str) -> ReadSample:
    """Parse a percentage such as `5%`, as in restic."""
    found = _PERCENTAGE.fullmatch(text.strip())
    if found is None or float(found[1]) > 100:
        raise InvalidSample
    return ReadSample(float(found[1]) / 100)


@dataclass(frozen=True)
class Prefix:
    """A prefix in the object store below which objects of one kind are stored."""

    path: str
    kb_id: UUID | None = None


class ObjectKind(Protocol):
    """One kind of objects, and the rows that reference them."""

    @property
    def store(self) -> StoreName: ...

    def prefixes(self, scope: ReconcileScope) -> Sequence[Prefix]: ...

    def list_referenced(self, scope: ReconcileScope, prefix: Prefix) -> AsyncIterator[ReferencedObject]:
        """Yield the objects that rows reference below the prefix, sorted by key."""

    async def is_intact(self, referenced: ReferencedObject) -> bool:
        """Read an object completely and compare its digest. Raise `ObjectNotFound` if it is missing."""


@dataclass(frozen=True)
class ObjectCheck:
    database: Database
    objects: ObjectStore
    orphans: OrphanedObjects
    object_kind: ObjectKind
    sample: ReadSample

    @property
    def store(self) -> StoreName:
        return self.object_kind.store

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        for prefix in self.object_kind.prefixes(scope):
            pairs = merge_join(
                self.object_kind.list_referenced(scope, prefix),
                self.objects.list(prefix.path),
                left_key=lambda referenced: referenced.key,
                right_key=lambda info: info.key,
            )
            async for referenced, info in pairs:
                kind = await self._classify(scope, referenced, info)
                if kind is not None:
                    yield self._drift(kind, referenced.key if referenced else info.key if info else "", prefix)

    async def _classify(
        self, scope: ReconcileScope, referenced: ReferencedObject | None, info: ObjectInfo | None
    ) -> DriftKind | None:
        if referenced is None:
            is_orphan = info is not None and info.modified_at < scope.orphans_before
            return DriftKind.ORPHANED if is_orphan else None
        if info is None:
            return DriftKind.MISSING
        if referenced.size_bytes not in (None, info.size_bytes):
            return DriftKind.DAMAGED
        return DriftKind.DAMAGED if self.sample.selects() and not await self._is_intact(referenced) else None

    async def _is_intact(self, referenced: ReferencedObject) -> bool:
        with suppress(ObjectNotFound):  # deleted meanwhile: `confirm` decides whether that was right
            return await self.object_kind.is_intact(referenced)
        return False

    def _drift(self, kind: DriftKind, key: str, prefix: Prefix, document_id: UUID | None = None) -> Drift:
        return Drift(self.store, kind, key, prefix.kb_id, document_id, is_loss=kind is not DriftKind.ORPHANED)

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        orphaned = await self.orphans.confirm(scope, [drift for drift in seen if drift.kind is DriftKind.ORPHANED])
        lost = [drift for drift in seen if drift.is_loss and await self._is_lost(drift)]
        # The rows last, because a purge deletes the row before the object.
        async with self.database.service_work(scope.service) as work:
            owners = await ObjectReferenceRepository(work.session).list_owners([drift.target for drift in lost])
        confirmed = [
            self._drift(drift.kind, drift.target, Prefix("", drift.kb_id), owners[drift.target])
            for drift in lost
            if drift.target in owners
        ]
        return [*orphaned, *confirmed]

    async def _is_lost(self, drift: Drift) -> bool:
        return drift.kind is DriftKind.DAMAGED or not await self.objects.exists(drift.target)

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        """Schedule the deletion of an orphan. A row without its object is a loss, which cannot be repaired."""
        return drift.kind is DriftKind.ORPHANED and await self.orphans.schedule_deletion(scope, drift)


ORIGINALS_BATCH = 500


@dataclass(frozen=True)
class OriginalObjects:
    database: Database
    objects: ObjectStore
    store: StoreName = StoreName.ORIGINALS

    def prefixes(self, scope: ReconcileScope) -> Sequence[Prefix]:
        return [Prefix(f"{kb_id}/", kb_id) for kb_id in scope.kb_ids]

    async def list_referenced(self, scope: ReconcileScope, prefix: Prefix) -> AsyncIterator[ReferencedObject]:
        assert prefix.kb_id is not None
        after = FIRST_ID
        while batch := await self._batch(scope, prefix.kb_id, after):
            for named in batch:
                yield named
            last = batch[-1].document_id
            assert last is not None
            after = last

    async def _batch(self, scope: ReconcileScope, kb_id: UUID, after: UUID) -> Sequence[ReferencedObject]:
        async with self.database.service_work(scope.service) as work:
            return await ObjectReferenceRepository(work.session).list_originals(
                kb_id, after=after, limit=ORIGINALS_BATCH
            )

    async def is_intact(self, referenced: ReferencedObject) -> bool:
        digest, size_bytes = hashlib.sha256(), 0
        async for piece in self.objects.read(referenced.key):
            digest.update(piece)
            size_bytes += len(piece)
        return (digest.hexdigest(), size_bytes) == (referenced.sha256, referenced.size_bytes)


PACKS_BATCH = 2000


@dataclass(frozen=True)
class TextPackObjects:
    """Text packs of one organization, or with `None` those shared by all."""

    database: Database
    objects: ObjectStore
    are_shared: bool
    store: StoreName = StoreName.PACKS

    def prefixes(self, scope: ReconcileScope) -> Sequence[Prefix]:
        if not scope.covers_organization:
            return []
        return [Prefix(f"artifacts/{'shared' if self.are_shared else scope.organization_id}/")]

    async def list_referenced(self, scope: ReconcileScope, prefix: Prefix) -> AsyncIterator[ReferencedObject]:
        after = ""
        while batch := await self._batch(scope, after):
            for referenced in batch:
                yield referenced
            after = batch[-1].key

    async def _batch(self, scope: ReconcileScope, after: str) -> Sequence[ReferencedObject]:
        owner = None if self.are_shared else scope.organization_id
        async with self.database.service_work(scope.service) as work:
            return await ObjectReferenceRepository(work.session).list_packs(owner, after=after, limit=PACKS_BATCH)

    async def is_intact(self, referenced: ReferencedObject) -> bool:
        try:
            async for _ in stream_full_text(self.objects, referenced.key, referenced.sha256):
                pass
        except ArtifactDamaged:
            return False
        return True
