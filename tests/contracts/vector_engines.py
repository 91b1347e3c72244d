"""The engines of the contract suite for vector indexes, and documents that all of them hold."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from muniment.storage.db.work import Database
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import Candidate, ExternalIndex, IndexedDocument, VectorSearch
from muniment.storage.vectors.qdrant.connection import build_client
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.search.passages_fixture import MODEL, Passage, PassagesFixture, points, vector
from tests.support.external_index import as_external
from tests.support.qdrant import LocalQdrant
from tests.support.seed import Person, Seed

Near = Mapping[str, float]

SERVER_URL = os.environ.get("TEST_QDRANT_URL")
"""Address of a real server, if the machine names one as QDRANT_URL: `tests/conftest.py` saves it under this name."""
SERVER_KEY = os.environ.get("TEST_QDRANT_API_KEY")


@asynccontextmanager
async def pgvector(database: Database) -> AsyncIterator[VectorSearch]:
    index = PgvectorSearch(database)
    yield index
    await index.close()


@asynccontextmanager
async def qdrant_in_memory(_: Database) -> AsyncIterator[ExternalIndex]:
    index = QdrantIndex(LocalQdrant())
    yield index
    await index.close()


@asynccontextmanager
async def qdrant_server(_: Database) -> AsyncIterator[ExternalIndex]:
    assert SERVER_URL is not None
    index = QdrantIndex(build_client(SERVER_URL, SERVER_KEY))
    yield index
    await index.close()


EXTERNAL_ENGINES: dict[str, Callable[[Database], AbstractAsyncContextManager[ExternalIndex]]] = {
    "qdrant_in_memory": qdrant_in_memory,
    **({"qdrant_server": qdrant_server} if SERVER_URL else {}),
}
ENGINES: dict[str, Callable[[Database], AbstractAsyncContextManager[VectorSearch]]] = {
    "pgvector": pgvector,
    **EXTERNAL_ENGINES,
}


@dataclass
class VectorIndexHarness:
    """Documents in PostgreSQL and in the index, moved as the lifecycle moves them."""

    index: VectorSearch
    database: Database
    passages_env: PassagesFixture
    seed: Seed
    owner: Person
    kb_id: UUID
    passages: dict[UUID, Sequence[Passage]] = field(default_factory=dict)

    @property
    def external(self) -> ExternalIndex | None:
        return as_external(self.index)

    async def add(self, *near: Near, kb_id: UUID | None = None) -> IndexedDocument:
        """Add a completed document with a passage for each of these vectors."""
        passages = [Passage("A passage.", weights) for weights in near]
        document = self.passages_env.indexed(self.passages_env.add(kb_id or self.kb_id, self.owner, passages))
        self.passages[document.document_id] = passages
        await self.put(document)
        return document

    async def put(self, document: IndexedDocument, *, epoch: int = 1) -> None:
        if self.external:
            await self.external.upsert(document, MODEL, epoch, points(self.passages[document.document_id]))

    async def archive(self, document: IndexedDocument) -> None:
        self.passages_env.set_status(document.document_id, "archived")
        if self.external:
            await self.external.set_visible(document, is_visible=False)

    async def restore(self, document: IndexedDocument) -> None:
        self.passages_env.set_status(document.document_id, "completed")
        if self.external:
            await self.external.set_visible(document, is_visible=True)

    async def purge(self, document: IndexedDocument) -> None:
        self.seed.execute("DELETE FROM documents WHERE id = %s", document.document_id)
        if self.external:
            await self.external.delete_document(document)

    async def nearest(
        self, near: Near, *, kb_ids: Sequence[UUID] | None = None, limit: int = 100, skip: int = 0
    ) -> Sequence[Candidate]:
        """Search as the owner."""
        wanted = [self.kb_id] if kb_ids is None else kb_ids
        async with self.database.work(self.owner.principal) as work:
            return await self.index.nearest(work, MODEL, wanted, vector(**near), limit=limit, offset=skip)

    async def found(
        self, near: Near, *, kb_ids: Sequence[UUID] | None = None, limit: int = 100, skip: int = 0
    ) -> list[tuple[UUID, int]]:
        candidates = await self.nearest(near, kb_ids=kb_ids, limit=limit, skip=skip)
        return [(one.document_id, one.chunk_index) for one in candidates]
