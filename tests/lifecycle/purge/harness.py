"""An API with all its stores and really processed documents, and checks for what is left of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import httpx

from muniment.accounts.credentials import Passwords
from muniment.api import with_middleware
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import Stores, build_ledger, build_stores
from muniment.errors import Unavailable
from muniment.http.services import Services
from muniment.lifecycle.proof.prover import ReceiptSweep
from muniment.processing.pipeline.processor import RunProcessor
from muniment.settings import Settings
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.objects.port import ObjectStore
from muniment.storage.vectors.port import IndexedDocument, VectorSearch
from tests.processing.worker_fixture import WorkerFixture
from tests.support.apps import borrow_app
from tests.support.clients import local_client
from tests.support.external_index import copier_of, with_vectors
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER, Person

EVERYWHERE = """
    SELECT table_name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'document_id'
       AND table_name NOT IN ('audit_events', 'deletions', 'receipts', 'passages', 'indexed_documents')
"""
OF_ARTIFACTS = ("artifacts_full_text", "artifact_pages", "artifact_paragraphs", "artifact_diagrams")
OF_PASSAGES = ("artifact_indexes", "artifact_chunks", "artifact_lexicons", "artifact_terms")


class FlakyObjectStore(FolderObjectStore):
    """Folder store that does not delete on demand: with an error, or while reporting success."""

    is_unavailable = False
    ignores_deletes = False

    async def delete(self, key: str) -> None:
        if self.is_unavailable:
            raise Unavailable("The store does not answer")
        if not self.ignores_deletes:
            await super().delete(key)


@dataclass
class PurgeHarness:
    worker_env: WorkerFixture
    client: httpx.AsyncClient
    """Client of the owner."""
    stores: Stores
    parts: Services
    url: str
    objects: FlakyObjectStore
    _number: int = field(default=0)

    def client_of(self, person: Person) -> httpx.AsyncClient:
        return local_client(self.url, headers=person.headers)

    def worker(self, **tools: Any) -> RunProcessor:
        copies = copier_of(self.stores.database, self.stores.vectors)
        return RunProcessor(replace(self.worker_env.services, **{"index_copier": copies, **tools}))

    async def read(self, document_id: UUID) -> None:
        await self.worker_env.process_with(self.worker(), document_id)
        # As the queue does after a successful job.
        self.worker_env.seed.execute(
            "DELETE FROM procrastinate_jobs WHERE status = 'todo' AND task_name = 'processing.run'"
        )

    async def completed(self, content: bytes | None = None, **columns: Any) -> UUID:
        self._number += 1
        document_id = await self.worker_env.document(content or b"content %d" % self._number, **columns)
        await self.read(document_id)
        return document_id

    async def archived(self, content: bytes | None = None, **columns: Any) -> UUID:
        document_id = await self.completed(content, **columns)
        answer = await self.client.post(f"{self.path(document_id)}/archive")
        assert answer.status_code == 200, answer.text
        return document_id

    def failed(self, **columns: Any) -> UUID:
        self._number += 1
        return self.worker_env.seed.document(
            self.worker_env.kb_id, self.worker_env.owner, name=f"failed {self._number}.pdf", status="failed", **columns
        )

    def path(self, document_id: UUID) -> str:
        return f"{self.kb_path}/documents/{document_id}"

    @property
    def kb_path(self) -> str:
        return f"/api/v1/knowledge-bases/{self.worker_env.kb_id}"

    async def purge(self, document_id: UUID, **parameters: Any) -> httpx.Response:
        return await self.client.delete(f"{self.path(document_id)}/purge", params=parameters)

    async def clear(self, document_id: UUID) -> httpx.Response:
        return await self.client.delete(f"{self.path(document_id)}/clear")

    async def receipt(self, receipt_id: str) -> dict[str, Any]:
        answer = await self.client.get(f"/api/v1/receipts/{receipt_id}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def sweep(self) -> None:
        """Run the worker's sweeps with everything due."""
        self.worker_env.seed.execute("UPDATE receipts SET next_attempt_at = now()")
        self.worker_env.seed.execute("UPDATE deletions SET next_attempt_at = now() WHERE reason <> 'never_kept'")
        await ReceiptSweep(self.parts.engine.prover).run()

    def indexed(self, document_id: UUID) -> IndexedDocument:
        return IndexedDocument(document_id, self.worker_env.kb_id, self.worker_env.owner.organization_id)

    async def left(self, *document_ids: UUID) -> dict[str, int]:
        """Return what any store holds of these documents, as the superuser."""
        rows = {
            table: self.worker_env.seed.one(
                f"SELECT count(*) FROM {table} WHERE document_id = ANY(%s)", list(document_ids)
            )
            for (table,) in self.worker_env.seed.rows(EVERYWHERE)
        }
        rows["documents"] = self.worker_env.seed.one(
            "SELECT count(*) FROM documents WHERE id = ANY(%s)", list(document_ids)
        )
        for table in (*OF_ARTIFACTS, *OF_PASSAGES):
            rows[table] = self.worker_env.seed.one(f"SELECT count(*) FROM {table}")
        rows["jobs"] = self.worker_env.seed.one(
            "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'processing.run'"
        )
        rows["objects"] = len([info async for info in self.objects.list() if not info.key.startswith("audit/")])
        if index := self.stores.external_index:
            rows["points"] = sum([await index.count(self.indexed(one)) for one in document_ids])
        return {name: count for name, count in rows.items() if count}


@asynccontextmanager
async def open_harness(
    worker_env: WorkerFixture, settings: Settings, index: VectorSearch | None = None, *, patience_seconds: float = 2
) -> AsyncIterator[PurgeHarness]:
    objects = FlakyObjectStore(settings.server.data_dir / "blobs")
    plain = build_stores(settings)
    stores = replace(
        with_vectors(plain, index or plain.vectors),
        objects=objects,
        ledger=build_ledger(plain.database, _as_objects(objects), plain.handover),
    )
    parts = build_services(settings, stores, Passwords(CHEAP_HASHER))
    finishing = replace(parts.engine.prover, lock_timeout_seconds=patience_seconds)
    parts = replace(parts, engine=replace(parts.engine, prover=finishing))
    with borrow_app(parts) as app:
        async with serving(with_middleware(app, settings)) as anonymous:
            url = str(anonymous.base_url)
            async with local_client(url, headers=worker_env.owner.headers, timeout=60) as client:
                yield PurgeHarness(worker_env, client, stores, parts, url, objects)
    await parts.events.close()
    await parts.images.close()
    await stores.close()


def _as_objects(objects: FolderObjectStore) -> ObjectStore:
    return objects
