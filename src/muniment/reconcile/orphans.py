"""Objects and collections that no row references. Objects become ledger entries and are never deleted directly."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.reconcile.drift import Drift, DriftKind, ReconcileScope, StoreName
from muniment.reconcile.object_references import ObjectReferenceRepository
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.deletions.ledger import Ledger, LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.objects.port import ObjectStore
from muniment.storage.vectors.port import ExternalIndex

REASON = "reconciled"


@dataclass(frozen=True)
class OrphanedObjects:
    database: Database
    objects: ObjectStore
    ledger: Ledger
    any_organization: bool = False
    """Whether the objects may belong to any organization, so that all must be checked."""

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        known = await self._list_referenced(scope, [drift.target for drift in seen])
        # The object last, because a ledger entry is done only after its object is deleted.
        return [drift for drift in seen if drift.target not in known and await self.objects.exists(drift.target)]

    async def schedule_deletion(self, scope: ReconcileScope, drift: Drift) -> bool:
        """Add a ledger entry for the object.

        A key is as young as its object: once no row references it, none ever will.
        """
        if await self._list_referenced(scope, [drift.target]):
            return False
        async with self.database.service_work(scope.service) as work:
            if await ObjectReferenceRepository(work.session).list_referenced_keys([drift.target]):
                return False
            entry = NewLedgerEntry(scope.organization_id, None, None, LedgerStore.OBJECTS, drift.target, REASON)
            entry_ids = await LedgerRepository(work.session).add([entry])
        await self.ledger.process(scope.organization_id, entry_ids)
        return True

    async def _list_referenced(self, scope: ReconcileScope, keys: Sequence[str]) -> set[str]:
        known = set[str]()
        for organization_id in await self._organizations(scope) if keys else ():
            async with self.database.service_work(Service(organization_id)) as work:
                known |= await ObjectReferenceRepository(work.session).list_referenced_keys(keys)
        return known

    async def _organizations(self, scope: ReconcileScope) -> Sequence[UUID]:
        return await list_organizations(self.database) if self.any_organization else [scope.organization_id]


AFTER_ALL_KEYS = "~"
"""Sorts after every key with the prefix."""


@dataclass(frozen=True)
class DeletedKnowledgeBaseObjects:
    database: Database
    objects: ObjectStore
    orphans: OrphanedObjects
    store: StoreName = StoreName.ORIGINALS

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        known, after = await list_kb_ids(self.database), ""
        while folder := await self._next_folder(after):
            if (kb_id := _parse_id(folder)) and kb_id not in known:
                async for info in self.objects.list(f"{folder}/"):
                    if info.modified_at < scope.orphans_before:
                        yield Drift(self.store, DriftKind.ORPHANED, info.key)
            after = f"{folder}/{AFTER_ALL_KEYS}"

    async def _next_folder(self, after: str) -> str | None:
        async for info in self.objects.list(after=after):
            return info.key.partition("/")[0]
        return None

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        return await self.orphans.confirm(scope, seen)

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        return await self.orphans.schedule_deletion(scope, drift)


@dataclass(frozen=True)
class DeletedKnowledgeBaseCollections:
    database: Database
    index: ExternalIndex
    store: StoreName = StoreName.INDEX

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        for kb_id in await self._list_deleted():
            yield Drift(self.store, DriftKind.ORPHANED, str(kb_id), kb_id)

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        gone = await self._list_deleted()
        return [drift for drift in seen if drift.kb_id in gone]

    async def _list_deleted(self) -> set[UUID]:
        indexed = await self.index.list_kb_ids()  # before the rows, because rows are created before points
        return set(indexed) - await list_kb_ids(self.database)

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        """Delete what belongs to a deleted knowledge base. Ids are never reused, so this is always safe."""
        assert drift.kb_id is not None
        await self.index.delete_collection(drift.kb_id)
        return True


async def list_kb_ids(database: Database) -> set[UUID]:
    """Return all knowledge bases of the installation."""
    found = set[UUID]()
    for organization_id in await list_organizations(database):
        async with database.service_work(Service(organization_id)) as work:
            found |= set(await work.session.scalars(select(KnowledgeBase.id)))
    return found


def _parse_id(folder: str) -> UUID | None:
    try:
        return UUID(folder)
    except ValueError:
        return None
