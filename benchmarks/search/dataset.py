"""A real database with one owner, and texts indexed by our own code as in the worker."""

import json
import re
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from uuid import UUID

from tests.artifacts.artifacts_fixture import ArtifactsFixture, a_key
from tests.support.cluster import PASSWORDS, RunningCluster
from tests.support.seed import Seed

from muniment.artifacts.repository import ArtifactRepository, NewArtifact, part_as_json
from muniment.artifacts.text_packs import StoredPageText, TextPackWriter, paragraph_uri, text_sha256
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.indexing.builder import build_index
from muniment.search.indexing.embedding import PassageEmbedding
from muniment.search.indexing.repository import IndexRepository, InstalledModels, NewIndex
from muniment.search.variants import variant_for
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.tasks.port import EmbeddingJob

_PASSAGES = """
    SELECT d.id, c.text, v.embedding::text
      FROM documents d JOIN artifact_chunks c USING (artifact_text_id)
      JOIN artifact_vectors v USING (artifact_text_id, fingerprint, chunk_index)
     WHERE d.knowledge_base_id = %s ORDER BY d.id, c.chunk_index
"""
_PARAGRAPH = re.compile(r"\S.*?(?=\n\s*\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class SearchDataset:
    address: DatabaseAddress
    seed: Seed
    database: Database
    artifacts_env: ArtifactsFixture
    embedder: LocalEmbedder

    async def add(self, pages: Sequence[str], kb_id: UUID | None = None) -> tuple[UUID, NewIndex, float]:
        """Add a completed document with its index. Return also the seconds that indexing took."""
        key = a_key(self.artifacts_env.owner.organization_id)
        pack = TextPackWriter(key.organization_id)
        new = _reading(pack, pages)
        await self.artifacts_env.objects.put(pack.key, pack.getvalue)
        async with self.database.service_work(self.artifacts_env.service) as work:
            full, _ = await ArtifactRepository(work.session).add_once(key, new)
        began = perf_counter()
        owner = self.artifacts_env.owner.organization_id
        index = await build_index(self.database, self.artifacts_env.objects, self.embedder, full, organization_id=owner)
        async with self.database.service_work(self.artifacts_env.service) as work:
            await IndexRepository(work.session).add_once(index)
        await self._embed(full.id)
        return self.artifacts_env.document(full, kb_id=kb_id), index, perf_counter() - began

    async def _embed(self, artifact_text_id: UUID) -> None:
        models = InstalledModels(self.embedder)
        organization_id, fingerprint = self.artifacts_env.owner.organization_id, variant_for(self.embedder).fingerprint
        job = EmbeddingJob(artifact_text_id, fingerprint, organization_id)
        await PassageEmbedding(self.database, models).embed(job, _go_on)

    def list_passages(self) -> Sequence[tuple[UUID, str, Sequence[float]]]:
        """Return the document, text and vector of each passage of the first knowledge base."""
        rows = self.seed.rows(_PASSAGES, self.artifacts_env.kb_id)
        return [(document_id, text, json.loads(vector)) for document_id, text, vector in rows]


async def _go_on(_: float) -> None: ...


@asynccontextmanager
async def open_search_dataset(*, durable: bool = False) -> AsyncIterator[SearchDataset]:
    """Open a data set that is deleted at the end. Use `durable` if the cost of commits is measured."""
    async with AsyncExitStack() as ending:
        running = RunningCluster(durable=durable)
        ending.callback(running.stop)
        address = ending.enter_context(running.start().new_database())
        folder = Path(ending.enter_context(tempfile.TemporaryDirectory()))
        seed, embedder = Seed(address), LocalEmbedder()
        ending.callback(seed.close)
        ending.push_async_callback(embedder.close)
        database = Database(address, app_password=PASSWORDS.app, service_password=PASSWORDS.service, pool_size=5)
        ending.push_async_callback(database.close)
        artifacts_env = ArtifactsFixture(seed, database, FolderObjectStore(folder))
        async with database.service_work(artifacts_env.service) as work:
            await InstalledModels(embedder).register(work)
        yield SearchDataset(address, seed, database, artifacts_env, embedder)


def _reading(pack: TextPackWriter, pages: Sequence[str]) -> NewArtifact:
    stored = [pack.add_page(text) for text in pages]
    head = {
        "full_text_uri": pack.key,
        "full_text_sha256": pack.sha256,
        "total_pages": len(pages),
        "total_words": sum(len(text.split()) for text in pages),
        "methods": {"text": len(pages)},
        "timings": {},
    }
    numbered = list(enumerate(zip(stored, pages, strict=True), 1))
    page_rows = [
        part_as_json(page_number=number, page_text_uri=page.uri, page_text_sha256=page.sha256)
        for number, (page, _) in numbered
    ]
    paragraph_rows = [line for number, (page, text) in numbered for line in _paragraphs(number, page, text)]
    return NewArtifact(head, page_rows, paragraph_rows)


def _paragraphs(number: int, page: StoredPageText, text: str) -> Sequence[str]:
    return [
        part_as_json(
            page_number=number,
            paragraph_index=index,
            paragraph_text_uri=paragraph_uri(page.uri, *found.span()),
            paragraph_text_sha256=text_sha256(found.group()),
            features={"kind": "text", "start": found.start(), "end": found.end(), "box": None},
        )
        for index, found in enumerate(_PARAGRAPH.finditer(text))
    ]
