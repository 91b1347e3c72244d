"""The text of artifacts, below the id of the organization that has them to itself, or below `shared`."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from muniment.artifacts.packs import ArtifactDamaged, read_full
from muniment.reconcile.drift import Scope, Store
from muniment.reconcile.file_repository import Named, NamedFileRepository
from muniment.reconcile.files import Place
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.work import Database

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
