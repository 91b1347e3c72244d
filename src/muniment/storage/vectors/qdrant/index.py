"""External index in a Qdrant server: points per document, one collection per knowledge base."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import chain
from typing import Any
from uuid import UUID

from qdrant_client import AsyncQdrantClient
from qdrant_client.models import Filter, FilterSelector

from muniment.storage.db.work import Work
from muniment.storage.vectors.port import Candidate, Held, Indexed, Model, Point, Vector, VectorIndex
from muniment.storage.vectors.qdrant.collections import Collections
from muniment.storage.vectors.qdrant.connection import LIMIT_SECONDS, Connection, IndexRejected, IndexUnavailable
from muniment.storage.vectors.qdrant.points import (
    HIDDEN,
    IN_A_CANDIDATE,
    IN_A_COMPARISON,
    ONLY_VISIBLE,
    VISIBLE,
    candidate,
    collection_of,
    held,
    kb_id_of,
    of_document,
    of_documents,
    of_epochs,
    stored,
)

POINTS_A_CALL = 100
POINTS_A_PAGE = 1000
QUERIES_AT_ONCE = 16
REMOVALS = 3


class PassagesLeft(IndexUnavailable):
    """The search index still contains passages after they were deleted"""


class QdrantIndex(VectorIndex):
    """Every call has `limit_seconds`; longer than that is an unknown outcome, `Unavailable`.

    A knowledge base without a collection is an empty one. Points are visible from the moment they are put: whether
    their document may be seen is decided by PostgreSQL.
    """

    name = "qdrant"
    holds_copies = True

    def __init__(self, client: AsyncQdrantClient, *, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._client = client
        self._connection = Connection(client, limit_seconds)
        self._collections = Collections(self._connection)
        self._free_to_ask = asyncio.Semaphore(QUERIES_AT_ONCE)

    async def put(self, document: Indexed, model: Model, epoch: int, points: Sequence[Point]) -> None:
        for start in range(0, len(points), POINTS_A_CALL):
            some = points[start : start + POINTS_A_CALL]
            try:
                await self._put(document, model, epoch, some)
            except IndexRejected:
                # The collection may have been removed since we looked; what is wrong with the points is wrong again.
                self._collections.forget(document.kb_id, model)
                await self._put(document, model, epoch, some)

    async def _put(self, document: Indexed, model: Model, epoch: int, points: Sequence[Point]) -> None:
        await self._collections.prepare(document.kb_id, model)
        written = [stored(document, model, epoch, point) for point in points]
        await self._connection.tell(self._client.upsert(collection_of(document.kb_id), written, wait=True))

    async def remove(self, document: Indexed, *, before_epoch: int | None = None) -> None:
        await self._remove(document.kb_id, of_document(document, before_epoch=before_epoch))

    async def remove_epochs(self, document: Indexed, epochs: Sequence[int]) -> None:
        await self._remove(document.kb_id, of_epochs(document, epochs))

    async def _remove(self, kb_id: UUID, which: Filter) -> None:
        # A delete was seen to report success and to leave points: only a count is believed.
        for _ in range(REMOVALS):
            await self._delete(kb_id, which)
            if await self._count(kb_id, which) == 0:
                return
        raise PassagesLeft

    async def _delete(self, kb_id: UUID, which: Filter) -> None:
        selector = FilterSelector(filter=which)
        try:
            await self._connection.tell(self._client.delete(collection_of(kb_id), selector, wait=True))
        except IndexRejected:
            if await self._collections.exists(kb_id):
                raise

    async def set_visible(self, document: Indexed, *, is_visible: bool) -> None:
        payload = {"status": VISIBLE if is_visible else HIDDEN}
        selector = FilterSelector(filter=of_document(document))
        call = self._client.set_payload(collection_of(document.kb_id), payload, selector, wait=True)
        try:
            await self._connection.tell(call)
        except IndexRejected:
            if await self._collections.exists(document.kb_id):
                raise

    async def count(self, document: Indexed) -> int:
        return await self._count(document.kb_id, of_document(document))

    async def _count(self, kb_id: UUID, which: Filter) -> int:
        try:
            counted = await self._connection.ask(self._client.count(collection_of(kb_id), which, exact=True))
        except IndexRejected:
            if await self._collections.exists(kb_id):
                raise
            return 0
        return counted.count

    async def nearest(
        self,
        work: Work[Any],
        model: Model,
        kb_ids: Sequence[UUID],
        vector: Vector,
        *,
        limit: int,
        skip: int = 0,
        among: int | None = None,
    ) -> Sequence[Candidate]:
        if limit < 1:
            return []
        # What is skipped overall may lie in any of them: each is asked for all that could be on the page.
        found = await asyncio.gather(*(self._nearest(kb_id, model, vector, skip + limit) for kb_id in set(kb_ids)))
        return sorted(chain.from_iterable(found), key=_rank)[skip : skip + limit]

    async def _nearest(self, kb_id: UUID, model: Model, vector: Vector, limit: int) -> Sequence[Candidate]:
        call = self._client.query_points(
            collection_of(kb_id),
            query=list(vector),
            using=model.fingerprint,
            query_filter=ONLY_VISIBLE,
            limit=limit,
            with_payload=IN_A_CANDIDATE,
        )
        async with self._free_to_ask:
            try:
                found = await self._connection.ask(call)
            except IndexRejected:
                if await self._collections.exists(kb_id) and await self._collections.holds(kb_id, model):
                    raise
                return []
        return [candidate(point) for point in found.points]

    async def list_kb_ids(self) -> Sequence[UUID]:
        found = await self._connection.ask(self._client.get_collections())
        return [kb_id for collection in found.collections if (kb_id := kb_id_of(collection.name))]

    async def list_held(
        self, kb_id: UUID, models: Sequence[Model] = (), *, document_ids: Sequence[UUID] | None = None
    ) -> AsyncIterator[Held]:
        which, after = of_documents(document_ids), None
        while True:
            page = self._client.scroll(
                collection_of(kb_id), which, limit=POINTS_A_PAGE, offset=after, with_payload=IN_A_COMPARISON
            )
            try:
                records, after = await self._connection.ask(page)
            except IndexRejected:
                if await self._collections.exists(kb_id):
                    raise
                return
            for record in records:
                yield held(record, models)
            if after is None:
                return

    async def remove_kb(self, kb_id: UUID) -> None:
        self._collections.forget_all(kb_id)
        await self._connection.ask(self._client.delete_collection(collection_of(kb_id)))
        if await self._collections.exists(kb_id):
            raise PassagesLeft

    async def check(self) -> str:
        # The version is told to anybody; listing shows that the key is accepted.
        collections = await self._connection.ask(self._client.get_collections())
        version = await self._connection.ask(self._client.info())
        return f"Qdrant {version.version}, {len(collections.collections)} knowledge bases"

    async def close(self) -> None:
        await self._client.close()


def _rank(found: Candidate) -> tuple[float, UUID, int]:
    """Equal distances in an order that does not change from page to page."""
    return found.distance, found.document_id, found.chunk_index
