"""Qdrant collections: one per knowledge base, with one named vector per embedding model.

A point has a vector of one model only, and a query names the model whose vectors it compares. Several models can
therefore coexist, and the status or removal of a document is written once, whichever models embedded it. The first
model comes with the collection; adding another needs Qdrant 1.18.
"""

from contextlib import suppress
from uuid import UUID

from qdrant_client.models import DenseVectorConfig, DenseVectorNameConfig, Distance, VectorParams

from muniment.storage.vectors.port import IndexingVariant
from muniment.storage.vectors.qdrant.connection import IndexRejected, QdrantConnection
from muniment.storage.vectors.qdrant.points import PAYLOAD_SCHEMA, collection_name


class SecondModelUnsupported(IndexRejected):
    """This Qdrant version cannot store a second embedding model. Version 1.18 or later is required"""


class QdrantCollections:
    """Creates collections with their indexes and vectors, and remembers which are complete."""

    def __init__(self, connection: QdrantConnection) -> None:
        self._client = connection.client
        self._connection = connection
        self._prepared: set[tuple[UUID, str]] = set()

    async def prepare(self, kb_id: UUID, model: IndexingVariant) -> None:
        """Create missing parts of the collection. It is checked once per process, until `invalidate` is called."""
        if (kb_id, model.fingerprint) in self._prepared:
            return
        name = collection_name(kb_id)
        if not await self._connection.call(self._client.collection_exists(name)):
            await self._create(name, model)
        await self._add_missing_indexes(name)
        if not await self.has_model(kb_id, model):
            await self._add_model(name, model)
        self._prepared.add((kb_id, model.fingerprint))

    def invalidate(self, kb_id: UUID, model: IndexingVariant) -> None:
        """Check the collection again before its next use, because it may have been deleted by others."""
        self._prepared.discard((kb_id, model.fingerprint))

    def invalidate_all(self, kb_id: UUID) -> None:
        """Check the collection again for every model."""
        self._prepared = {(prepared, model) for prepared, model in self._prepared if prepared != kb_id}

    async def exists(self, kb_id: UUID) -> bool:
        """Return whether the knowledge base has a collection."""
        return await self._connection.call(self._client.collection_exists(collection_name(kb_id)))

    async def has_model(self, kb_id: UUID, model: IndexingVariant) -> bool:
        """Return whether the existing collection can hold vectors of this model."""
        info = await self._connection.call(self._client.get_collection(collection_name(kb_id)))
        vectors = info.config.params.vectors
        return isinstance(vectors, dict) and model.fingerprint in vectors

    async def _create(self, name: str, model: IndexingVariant) -> None:
        vectors = {model.fingerprint: VectorParams(size=model.dimensions, distance=Distance.COSINE)}
        with suppress(IndexRejected):  # another process has created it, with this model or another
            await self._connection.call(self._client.create_collection(name, vectors_config=vectors))

    async def _add_missing_indexes(self, name: str) -> None:
        # The process that created the collection may have crashed before it created these.
        info = await self._connection.call(self._client.get_collection(name))
        for field, schema in PAYLOAD_SCHEMA.items():
            if field not in info.payload_schema:
                await self._connection.call_and_wait(self._client.create_payload_index(name, field, schema))

    async def _add_model(self, name: str, model: IndexingVariant) -> None:
        dense = DenseVectorConfig(size=model.dimensions, distance=Distance.COSINE)
        call = self._client.create_vector_name(name, model.fingerprint, DenseVectorNameConfig(dense=dense))
        try:
            await self._connection.call_and_wait(call)
        except IndexRejected as error:
            raise SecondModelUnsupported from error
