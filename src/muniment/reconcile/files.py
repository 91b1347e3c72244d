"""Rows and objects: what is named must be there, and what is there must be named."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.reconcile.file_repository import Named, NamedFileRepository
from muniment.reconcile.litter import Litter
from muniment.reconcile.merging import merge
from muniment.reconcile.subset import Subset
from muniment.storage.blobs.port import BlobInfo, BlobNotFound, Blobs
from muniment.storage.db.work import Database


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
