"""A large set of realistic documents: with revisions, runs, pages, some of them archived."""

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
from tests.support.live_api import RunningApi, running_api, settings_for

from benchmarks.search.dataset import SearchDataset, open_search_dataset
from benchmarks.search.synthetic_corpus import SyntheticCorpus

CHUNKS_OF_A_DOCUMENT = 10
ARCHIVED_SHARE = 10
"""Every tenth document is archived."""
ORIGINAL, PACK = b"An original. " * 4000, b"A text pack. " * 400
_COMPLETE_ROWS = (
    """
    UPDATE documents SET completed_at = now(), name = 'Document ' || b.number || '.pdf',
           name_key = 'document ' || b.number || '.pdf'
      FROM bench_documents b WHERE b.id = documents.id AND completed_at IS NULL AND status = 'completed'
    """,
    f"""
    UPDATE documents SET status = 'archived', archived_at = now() - b.number * interval '1 second'
      FROM bench_documents b WHERE b.id = documents.id AND status = 'completed' AND b.number % {ARCHIVED_SHARE} = 0
    """,
    """
    INSERT INTO document_revisions (document_id, revision, organization_id, name, media_type, original_uri, file_size,
           sha256, content_hmac, uploaded_by, artifact_text_id)
    SELECT id, revision, organization_id, name, media_type, original_uri, file_size, sha256, content_hmac, uploaded_by,
           artifact_text_id FROM documents ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO document_processing_runs (document_id, organization_id, user_id, epoch, revision, status, attempt,
           ended_at)
    SELECT id, organization_id, uploaded_by, epoch, revision, 'completed', 1, now() FROM documents
    ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO artifact_pages (organization_id, content_hmac, algorithm_version, params_fingerprint, page_number,
           page_text_uri, page_text_sha256)
    SELECT organization_id, content_hmac, algorithm_version, params_fingerprint, 1, full_text_uri || '#bytes=0-10', '0'
      FROM artifacts_full_text ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO document_pages (document_id, organization_id, page_number, artifact_page_id)
    SELECT d.id, d.organization_id, 1, p.id FROM documents d JOIN artifact_pages p USING (content_hmac)
    ON CONFLICT DO NOTHING
    """,
)
# Each document once: a taken one is removed from the list.
_TAKE = """
    WITH taken AS (
        DELETE FROM bench_documents WHERE number IN (
            SELECT b.number FROM bench_documents b JOIN documents d USING (id)
             WHERE d.status = 'completed' ORDER BY md5(b.number::text) LIMIT %(number)s)
        RETURNING id, coalesce(%(kb_id)s, kb_id) AS kb_id),
    moved AS (
        UPDATE documents d SET knowledge_base_id = kb_id, original_uri = kb_id || '/' || d.id || '/1/original'
          FROM taken WHERE taken.id = d.id)
    UPDATE document_revisions SET original_uri = kb_id || '/' || id || '/1/original'
      FROM taken WHERE id = document_id RETURNING kb_id, id, original_uri
"""


@dataclass(frozen=True)
class DocumentPath:
    """The path of a document in the API."""

    kb_id: UUID
    document_id: UUID

    def url(self, move: str) -> str:
        return f"/api/v1/knowledge-bases/{self.kb_id}/documents/{self.document_id}/{move}"


@dataclass(frozen=True)
class LifecycleDataset:
    search: SearchDataset
    corpus: SyntheticCorpus
    api: RunningApi
    client: httpx.AsyncClient

    def grow(self, documents: int) -> None:
        """Grow to this number of documents, a tenth of them archived."""
        self.corpus.grow(documents * CHUNKS_OF_A_DOCUMENT)
        for statement in _COMPLETE_ROWS:
            self.search.seed.execute(statement.replace("%", "%%"))
        self.search.seed.execute("VACUUM ANALYZE")

    async def take(self, number: int, kb_id: UUID | None = None) -> Sequence[DocumentPath]:
        """Return some completed documents with their bytes, moved into one knowledge base if it is given."""
        rows = self._rows(_TAKE, {"number": number, "kb_id": kb_id})
        assert len(rows) == number, "the crowd is too small for what is to be measured"
        for _, document_id, original in rows:
            pack = f"artifacts/{self.search.artifacts_env.owner.organization_id}/{uuid4()}"
            await self.api.stores.objects.put(original, ORIGINAL)
            await self.api.stores.objects.put(pack, PACK)
            self.search.seed.execute(
                "UPDATE artifacts_full_text SET full_text_uri = %s WHERE id = %s", pack, document_id
            )
        return [DocumentPath(kb_id, document_id) for kb_id, document_id, _ in rows]

    def _rows(self, statement: str, values: Mapping[str, object]) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.search.address.conninfo) as connection:
            return connection.execute(statement, values).fetchall()

    def fail(self, places: Sequence[DocumentPath]) -> None:
        """Make the documents look as if their first run had failed."""
        failed = [place.document_id for place in places]
        self.search.seed.execute(
            "UPDATE documents SET status = 'failed', completed_at = NULL, last_error = 'x' WHERE id = ANY(%s)", failed
        )


@asynccontextmanager
async def open_lifecycle_dataset() -> AsyncIterator[LifecycleDataset]:
    """Open the API on a durable database, signed in as the owner of all knowledge bases."""
    async with open_search_dataset(durable=True) as dataset:
        crowd = SyntheticCorpus(dataset, CHUNKS_OF_A_DOCUMENT)
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_for(dataset.address, Path(folder))
            async with running_api(settings) as api, api.client(dataset.artifacts_env.owner) as client:
                yield LifecycleDataset(dataset, crowd, api, client)
