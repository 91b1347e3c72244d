"""External index in a Qdrant server: points per document, one collection per knowledge base."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import chain
from typing import Any
from uuid import UUID

from qdrant_client import AsyncQdrantClient
from qdrant_client.models import Filter, FilterSelector

from muniment.storage.db.work import Work
from muniment.storage.vectors.port import (
    Candidate,
    DocumentCondition,
    ExternalIndex,
    IndexedDocument,
    IndexingVariant,
    Point,
    StoredPoint,
    Vector,
)
from muniment.storage.vectors.qdrant.collections import QdrantCollections
from muniment.storage.vectors.qdrant.connection import (
    TIMEOUT_SECONDS,
    IndexRejected,
    IndexUnavailable,
    QdrantConnection,
)
from muniment.storage.vectors.qdrant.points import (
    CANDIDATE_PAYLOAD,
    COMPARISON_PAYLOAD,
    HIDDEN,
    VISIBLE,
    VISIBLE_FILTER,
    collection_name,
    document_filter,
    documents_filter,
    epochs_filter,
    parse_kb_id,
    to_candidate,
    to_point,
    to_stored_point,
)

UPSERT_BATCH = 100
SCROLL_PAGE_SIZE = 1000
MAX_CONCURRENT_QUERIES = 16
DELETE_ATTEMPTS = 3


class PointsStillPresent(IndexUnavailable):
    """The search index still contains passages after they were deleted"""


class QdrantIndex(ExternalIndex):
    """Index in a Qdrant server. A call that exceeds `timeout_seconds` raises `Unavailable`.

    A knowledge base without a collection counts as empty. Points are visible as soon as they are stored: PostgreSQL
    decides whether the caller may see their document.
    """

    name = "qdrant"

    def __init__(self, client: AsyncQdrantClient, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._client = client
        self._connection = QdrantConnection(client, timeout_seconds)
        self._collections = QdrantCollections(self._connection)
        self._query_slots = asyncio.Semaphore(MAX_CONCURRENT_QUERIES)

    async def upsert(
        self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: Sequence[Point]
    ) -> None:
        for start in range(0, len(points), UPSERT_BATCH):
            batch = points[start : start + UPSERT_BATCH]
            try:
                await self._upsert_batch(document, model, epoch, batch)
            except IndexRejected:
                # The collection may have been deleted since it was checked. Invalid points are rejected again.
                self._collections.invalidate(document.kb_id, model)
                await self._upsert_batch(document, model, epoch, batch)

    async def _upsert_batch(
        self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: Sequence[Point]
    ) -> None:
        await self._collections.prepare(document.kb_id, model)
        written = [to_point(document, model, epoch, point) for point in points]
        await self._connection.call_and_wait(self._client.upsert(collection_name(document.kb_id), written, wait=True))

    async def delete_document(self, document: IndexedDocument, *, before_epoch: int | None = None) -> None:
        await self._delete_and_verify(document.kb_id, document_filter(document, before_epoch=before_epoch))

    async def delete_epochs(self, document: IndexedDocument, epochs: Sequence[int]) -> None:
        await self._delete_and_verify(document.kb_id, epochs_filter(document, epochs))

    async def _delete_and_verify(self, kb_id: UUID, selected: Filter) -> None:
        # Qdrant has reported success although points remained: only a count proves the deletion.
        for _ in range(DELETE_ATTEMPTS):
            await self._delete(kb_id, selected)
            if await self._count(kb_id, selected) == 0:
                return
        raise PointsStillPresent

    async def _delete(self, kb_id: UUID, selected: Filter) -> None:
        selector = FilterSelector(filter=selected)
        try:
            await self._connection.call_and_wait(self._client.delete(collection_name(kb_id), selector, wait=True))
        except IndexRejected:
            if await self._collections.exists(kb_id):
                raise

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        payload = {"status": VISIBLE if is_visible else HIDDEN}
        selector = FilterSelector(filter=document_filter(document))
        call = self._client.set_payload(collection_name(document.kb_id), payload, selector, wait=True)
        try:
            await self._connection.call_and_wait(call)
        except IndexRejected:
            if await self._collections.exists(document.kb_id):
                raise

    async def count(self, document: IndexedDocument) -> int:
        return await self._count(document.kb_id, document_filter(document))

    async def _count(self, kb_id: UUID, selected: Filter) -> int:
        try:
            counted = await self._connection.call(self._client.count(collection_name(kb_id), selected, exact=True))
        except IndexRejected:
            if await self._collections.exists(kb_id):
                raise
            return 0
        return counted.count

    async def nearest(
        self,
        work: Work[Any],
        model: IndexingVariant,
        kb_ids: Sequence[UUID],
        vector: Vector,
        *,
        limit: int,
        offset: int = 0,
        scope_size: int | None = None,
        documents: DocumentCondition | None = None,
    ) -> Sequence[Candidate]:
        if limit < 1:
            return []
        # The skipped candidates may all be in one knowledge base: each is queried for everything up to the page's end.
        found = await asyncio.gather(*(self._nearest(kb_id, model, vector, offset + limit) for kb_id in set(kb_ids)))
        return sorted(chain.from_iterable(found), key=_sort_key)[offset : offset + limit]

    async def _nearest(self, kb_id: UUID, model: IndexingVariant, vector: Vector, limit: int) -> Sequence[Candidate]:
        call = self._client.query_points(
            collection_name(kb_id),
            query=list(vector),
            using=model.fingerprint,
            query_filter=VISIBLE_FILTER,
            limit=limit,
            with_payload=CANDIDATE_PAYLOAD,
        )
        async with self._query_slots:
            try:
                found = await self._connection.call(call)
            except IndexRejected:
                if await self._collections.exists(kb_id) and await self._collections.has_model(kb_id, model):
                    raise
                return []
        return [to_candidate(point) for point in found.points]

    async def list_kb_ids(self) -> Sequence[UUID]:
        found = await self._connection.call(self._client.get_collections())
        return [kb_id for collection in found.collections if (kb_id := parse_kb_id(collection.name))]

    async def iter_points(
        self, kb_id: UUID, models: Sequence[IndexingVariant] = (), *, document_ids: Sequence[UUID] | None = None
    ) -> AsyncIterator[StoredPoint]:
        which, after = documents_filter(document_ids), None
        while True:
            page = self._client.scroll(
                collection_name(kb_id), which, limit=SCROLL_PAGE_SIZE, offset=after, with_payload=COMPARISON_PAYLOAD
            )
            try:
                records, after = await self._connection.call(page)
            except IndexRejected:
                if await self._collections.exists(kb_id):
                    raise
                return
            for record in records:
                yield to_stored_point(record, models)
            if after is None:
                return

    async def delete_collection(self, kb_id: UUID) -> None:
        self._collections.invalidate_all(kb_id)
        await self._connection.call(self._client.delete_collection(collection_name(kb_id)))
        if await self._collections.exists(kb_id):
            raise PointsStillPresent

    async def check(self) -> str:
        # Anyone can read the version; listing the collections proves that the API key is accepted.
        collections = await self._connection.call(self._client.get_collections())
        version = await self._connection.call(self._client.info())
        return f"Qdrant {version.version}, {len(collections.collections)} knowledge bases"

    async def close(self) -> None:
        await self._client.close()


def _sort_key(found: Candidate) -> tuple[float, UUID, int]:
    """Return a key that orders equal distances in the same way on every page."""
    return found.distance, found.document_id, found.chunk_index
