"""The bytes that people uploaded, below the ids of their knowledge base and document."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.reconcile.drift import Scope, Store
from muniment.reconcile.file_repository import Named, NamedFileRepository
from muniment.reconcile.files import Place
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.work import Database

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
