"""Objects and collections that no row references. Objects become ledger entries and are never deleted directly."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.reconcile.object_references import NamedFileRepository
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.deletions.ledger import DeletionRepository, Ledger, Line
from muniment.storage.deletions.tables import Store as Kept
from muniment.storage.objects.port import BlobNotFound, Blobs
from muniment.storage.vectors.port import VectorIndex

REASON = "reconciled"


@dataclass(frozen=True)
class Litter:
    database: Database
    blobs: Blobs
    ledger: Ledger
    of_all: bool = False
    """Whether the objects may belong to any organization, and all must be asked."""

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        known = await self._known(scope, [drift.target for drift in seen])
        # The object last: a line of the ledger is done after it is gone.
        return [drift for drift in seen if drift.target not in known and await self._is_there(drift.target)]

    async def write_off(self, scope: Scope, drift: Drift) -> bool:
        """A key is as fresh as its object: once nobody knows it, nobody can take it into use any more."""
        if await self._known(scope, [drift.target]):
            return False
        async with self.database.service_work(scope.service) as work:
            if await NamedFileRepository(work.session).list_known([drift.target]):
                return False
            line = Line(scope.organization_id, None, None, Kept.BLOBS, drift.target, REASON)
            line_ids = await DeletionRepository(work.session).add([line])
        await self.ledger.carry_out(scope.organization_id, line_ids)
        return True

    async def _known(self, scope: Scope, keys: Sequence[str]) -> set[str]:
        known = set[str]()
        for organization_id in await self._organizations(scope) if keys else ():
            async with self.database.service_work(Service(organization_id)) as work:
                known |= await NamedFileRepository(work.session).list_known(keys)
        return known

    async def _organizations(self, scope: Scope) -> Sequence[UUID]:
        return await list_organizations(self.database) if self.of_all else [scope.organization_id]

    async def _is_there(self, key: str) -> bool:
        try:
            await self.blobs.size_bytes(key)
        except BlobNotFound:
            return False
        return True


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
