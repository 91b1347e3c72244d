"""Check rows against objects: every referenced object must exist, and every object must be referenced.

Originals lie below the ids of their knowledge base and document; text packs below the id of the organization that owns
them, or below `shared`. A random sample is read completely.
"""

import hashlib
import random
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from muniment.artifacts.text_packs import ArtifactDamaged, read_full
from muniment.errors import Invalid
from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.reconcile.object_references import Named, NamedFileRepository
from muniment.reconcile.orphans import Litter
from muniment.storage.db.work import Database
from muniment.storage.objects.port import BlobInfo, BlobNotFound, Blobs

Left = TypeVar("Left")


Right = TypeVar("Right")


async def merge(
    left: AsyncIterator[Left],
    right: AsyncIterator[Right],
    *,
    left_key: Callable[[Left], str],
    right_key: Callable[[Right], str],
) -> AsyncIterator[tuple[Left | None, Right | None]]:
    """Pairs of the same key, and what has none on the other side, in constant memory."""
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


_SHARE = re.compile(r"(\d+(?:\.\d+)?)%")


class NoShare(Invalid):
    """The share to read must be a percentage, for example 5%"""


@dataclass(frozen=True)
class Subset:
    share: float = 0.0
    chance: Callable[[], float] = random.random

    def takes(self) -> bool:
        return self.chance() < self.share


NOTHING = Subset()


def parse_share(typed: str) -> Subset:
    """`5%`, as restic writes it."""
    found = _SHARE.fullmatch(typed.strip())
    if found is None or float(found[1]) > 100:
        raise NoShare
    return Subset(float(found[1]) / 100)


@dataclass(frozen=True)
class Place:
    """Where objects of one kind lie."""

    prefix: str
    kb_id: UUID | None = None


class Shelf(Protocol):
    """One kind of objects, and the rows that name them."""

    @property
    def store(self) -> Store: ...

    def places(self, scope: Scope) -> Sequence[Place]: ...

    def named(self, scope: Scope, place: Place) -> AsyncIterator[Named]:
        """What the rows name in this place, sorted by key."""

    async def is_whole(self, named: Named) -> bool:
        """Read all of it. `BlobNotFound` where it is gone."""


@dataclass(frozen=True)
class FileComparison:
    database: Database
    blobs: Blobs
    litter: Litter
    shelf: Shelf
    subset: Subset

    @property
    def store(self) -> Store:
        return self.shelf.store

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        for place in self.shelf.places(scope):
            pairs = merge(
                self.shelf.named(scope, place),
                self.blobs.list(place.prefix),
                left_key=lambda named: named.key,
                right_key=lambda info: info.key,
            )
            async for named, info in pairs:
                kind = await self._kind(scope, named, info)
                if kind is not None:
                    yield self._drift(kind, named.key if named else info.key if info else "", place)

    async def _kind(self, scope: Scope, named: Named | None, info: BlobInfo | None) -> Kind | None:
        if named is None:
            is_litter = info is not None and info.modified_at < scope.litter_before
            return Kind.ORPHANED if is_litter else None
        if info is None:
            return Kind.MISSING
        if named.size_bytes not in (None, info.size_bytes):
            return Kind.DAMAGED
        return Kind.DAMAGED if self.subset.takes() and not await self._is_whole(named) else None

    async def _is_whole(self, named: Named) -> bool:
        with suppress(BlobNotFound):  # taken away while we looked: the second look tells by whom
            return await self.shelf.is_whole(named)
        return False

    def _drift(self, kind: Kind, key: str, place: Place, document_id: UUID | None = None) -> Drift:
        return Drift(self.store, kind, key, place.kb_id, document_id, is_loss=kind is not Kind.ORPHANED)

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        orphaned = await self.litter.confirm(scope, [drift for drift in seen if drift.kind is Kind.ORPHANED])
        lost = [drift for drift in seen if drift.is_loss and await self._is_lost(drift)]
        # The rows last: whoever removes a document removes its row before its object.
        async with self.database.service_work(scope.service) as work:
            owners = await NamedFileRepository(work.session).list_owners([drift.target for drift in lost])
        placed = [(drift, Place("", drift.kb_id)) for drift in lost if drift.target in owners]
        return [*orphaned, *(self._drift(drift.kind, drift.target, at, owners[drift.target]) for drift, at in placed)]

    async def _is_lost(self, drift: Drift) -> bool:
        if drift.kind is Kind.DAMAGED:
            return True
        try:
            await self.blobs.size_bytes(drift.target)
        except BlobNotFound:
            return True
        return False

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        """Litter becomes a line of the ledger. A row without its object is a loss: nothing is safe to do about it."""
        return drift.kind is Kind.ORPHANED and await self.litter.write_off(scope, drift)


ORIGINALS_BATCH = 500


FIRST = UUID(int=0)


@dataclass(frozen=True)
class Originals:
    database: Database
    blobs: Blobs
    store: Store = Store.ORIGINALS

    def places(self, scope: Scope) -> Sequence[Place]:
        return [Place(f"{kb_id}/", kb_id) for kb_id in scope.kb_ids]

    async def named(self, scope: Scope, place: Place) -> AsyncIterator[Named]:
        assert place.kb_id is not None
        after = FIRST
        while batch := await self._batch(scope, place.kb_id, after):
            for named in batch:
                yield named
            last = batch[-1].document_id
            assert last is not None
            after = last

    async def _batch(self, scope: Scope, kb_id: UUID, after: UUID) -> Sequence[Named]:
        async with self.database.service_work(scope.service) as work:
            return await NamedFileRepository(work.session).list_originals(kb_id, after=after, limit=ORIGINALS_BATCH)

    async def is_whole(self, named: Named) -> bool:
        seen, size_bytes = hashlib.sha256(), 0
        async for piece in self.blobs.read(named.key):
            seen.update(piece)
            size_bytes += len(piece)
        return (seen.hexdigest(), size_bytes) == (named.sha256, named.size_bytes)


PACKS_BATCH = 2000


@dataclass(frozen=True)
class Packs:
    """Of one organization, or what all share."""

    database: Database
    blobs: Blobs
    are_shared: bool
    store: Store = Store.PACKS

    def places(self, scope: Scope) -> Sequence[Place]:
        if not scope.is_whole:
            return []
        return [Place(f"artifacts/{'shared' if self.are_shared else scope.organization_id}/")]

    async def named(self, scope: Scope, place: Place) -> AsyncIterator[Named]:
        after = ""
        while batch := await self._batch(scope, after):
            for named in batch:
                yield named
            after = batch[-1].key

    async def _batch(self, scope: Scope, after: str) -> Sequence[Named]:
        owner = None if self.are_shared else scope.organization_id
        async with self.database.service_work(scope.service) as work:
            return await NamedFileRepository(work.session).list_packs(owner, after=after, limit=PACKS_BATCH)

    async def is_whole(self, named: Named) -> bool:
        try:
            async for _ in read_full(self.blobs, named.key, named.sha256):
                pass
        except ArtifactDamaged:
            return False
        return True
