"""What knowledge bases leave that are gone: their objects, and their collections in the index."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.reconcile.litter import Litter
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.organizations import list_organizations
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import VectorIndex

LAST = "~"
"""Sorts behind whatever a key may go on with."""


@dataclass(frozen=True)
class LeftBehindObjects:
    database: Database
    blobs: Blobs
    litter: Litter
    store: Store = Store.ORIGINALS

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        known, after = await existing(self.database), ""
        while folder := await self._next_folder(after):
            if (kb_id := _id(folder)) and kb_id not in known:
                async for info in self.blobs.list(f"{folder}/"):
                    if info.modified_at < scope.litter_before:
                        yield Drift(self.store, Kind.ORPHANED, info.key)
            after = f"{folder}/{LAST}"

    async def _next_folder(self, after: str) -> str | None:
        async for info in self.blobs.list(after=after):
            return info.key.partition("/")[0]
        return None

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        return await self.litter.confirm(scope, seen)

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        return await self.litter.write_off(scope, drift)


@dataclass(frozen=True)
class LeftBehindCollections:
    database: Database
    index: VectorIndex
    store: Store = Store.INDEX

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        for kb_id in await self._gone():
            yield Drift(self.store, Kind.ORPHANED, str(kb_id), kb_id)

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        gone = await self._gone()
        return [drift for drift in seen if drift.kb_id in gone]

    async def _gone(self) -> set[UUID]:
        held = await self.index.list_kb_ids()  # before the rows: these are made before any passage
        return set(held) - await existing(self.database)

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        """An id is never given twice: what is gone does not come back."""
        assert drift.kb_id is not None
        await self.index.remove_kb(drift.kb_id)
        return True


async def existing(database: Database) -> set[UUID]:
    """All knowledge bases of the installation."""
    found = set[UUID]()
    for organization_id in await list_organizations(database):
        async with database.service_work(Service(organization_id)) as work:
            found |= set(await work.session.scalars(select(KnowledgeBase.id)))
    return found


def _id(folder: str) -> UUID | None:
    try:
        return UUID(folder)
    except ValueError:
        return None
