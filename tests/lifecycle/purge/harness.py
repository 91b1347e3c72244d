"""An API with all its stores, whose documents are really read, and what is left of them anywhere."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import httpx

from muniment.accounts.credentials import Passwords
from muniment.api import framed
from muniment.bootstrap.services import build_parts
from muniment.bootstrap.stores import Stores, build_ledger, build_stores
from muniment.errors import Unavailable
from muniment.http.services import Parts
from muniment.lifecycle.proof.prover import ReceiptSweep
from muniment.processing.pipeline.processor import Processing
from muniment.search.external_index.copier import Copies
from muniment.settings import Settings
from muniment.storage.objects.folder.store import FolderBlobs
from muniment.storage.objects.port import Blobs
from muniment.storage.tasks.port import FAST, READING, MoveOn
from muniment.storage.vectors.port import Indexed, VectorIndex
from tests.processing.worker_fixture import Desk
from tests.support.apps import app_of
from tests.support.clients import local_client
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER, Person

EVERYWHERE = """
    SELECT table_name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'document_id'
       AND table_name NOT IN ('audit_events', 'deletions', 'receipts', 'passages', 'indexed_documents')
"""
OF_ARTIFACTS = ("artifacts_full_text", "artifact_pages", "artifact_paragraphs", "artifact_diagrams")
OF_PASSAGES = ("artifact_indexes", "artifact_chunks")


class MoodyBlobs(FolderBlobs):
    """A folder that does not delete while it sulks, or that says so and does not."""

    is_sulking = False
    is_lying = False

    async def delete(self, key: str) -> None:
        if self.is_sulking:
            raise Unavailable("The store does not answer")
        if not self.is_lying:
            await super().delete(key)


@dataclass
class House:
    desk: Desk
    client: httpx.AsyncClient
    """Of the owner."""
    stores: Stores
    parts: Parts
    url: str
    blobs: MoodyBlobs
    _number: int = field(default=0)

    def client_of(self, person: Person) -> httpx.AsyncClient:
        return local_client(self.url, headers=person.headers)

    def worker(self, **tools: Any) -> Processing:
        copies = Copies(self.stores.database, self.stores.index) if self.stores.index.holds_copies else None
        return Processing(replace(self.desk.tools, **{"copies": copies, **tools}))

    async def read(self, document_id: UUID) -> None:
        worker = self.worker()
        try:
            await worker(self.desk.job(document_id, FAST))
        except MoveOn:
            await worker(self.desk.job(document_id, READING))
        # As the queue does when the job has ended well.
        self.desk.seed.execute("DELETE FROM procrastinate_jobs WHERE status = 'todo' AND task_name = 'processing.run'")

    async def completed(self, content: bytes | None = None, **columns: Any) -> UUID:
        self._number += 1
        document_id = await self.desk.document(content or b"content %d" % self._number, **columns)
        await self.read(document_id)
        return document_id

    async def archived(self, content: bytes | None = None, **columns: Any) -> UUID:
        document_id = await self.completed(content, **columns)
        answer = await self.client.post(f"{self.path(document_id)}/archive")
        assert answer.status_code == 200, answer.text
        return document_id

    def failed(self, **columns: Any) -> UUID:
        self._number += 1
        return self.desk.seed.document(
            self.desk.kb_id, self.desk.owner, name=f"failed {self._number}.pdf", status="failed", **columns
        )

    def path(self, document_id: UUID) -> str:
        return f"{self.kb_path}/documents/{document_id}"

    @property
    def kb_path(self) -> str:
        return f"/api/v1/knowledge-bases/{self.desk.kb_id}"

    async def purge(self, document_id: UUID, **parameters: Any) -> httpx.Response:
        return await self.client.delete(f"{self.path(document_id)}/purge", params=parameters)

    async def clear(self, document_id: UUID) -> httpx.Response:
        return await self.client.delete(f"{self.path(document_id)}/clear")

    async def receipt(self, receipt_id: str) -> dict[str, Any]:
        answer = await self.client.get(f"/api/v1/receipts/{receipt_id}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def sweep(self) -> None:
        """As the worker does, when everything is due."""
        self.desk.seed.execute("UPDATE receipts SET next_attempt_at = now()")
        self.desk.seed.execute("UPDATE deletions SET next_attempt_at = now() WHERE reason <> 'never_kept'")
        await ReceiptSweep(self.parts.removal.finishing).sweep()

    def indexed(self, document_id: UUID) -> Indexed:
        return Indexed(document_id, self.desk.kb_id, self.desk.owner.organization_id)

    async def left(self, *document_ids: UUID) -> dict[str, int]:
        """What is left of these documents by a look of our own, past all policies; nothing is left out."""
        rows = {
            table: self.desk.seed.one(f"SELECT count(*) FROM {table} WHERE document_id = ANY(%s)", list(document_ids))
            for (table,) in self.desk.seed.rows(EVERYWHERE)
        }
        rows["documents"] = self.desk.seed.one("SELECT count(*) FROM documents WHERE id = ANY(%s)", list(document_ids))
        for table in (*OF_ARTIFACTS, *OF_PASSAGES):
            rows[table] = self.desk.seed.one(f"SELECT count(*) FROM {table}")
        rows["jobs"] = self.desk.seed.one("SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'processing.run'")
        rows["objects"] = len([info async for info in self.blobs.list() if not info.key.startswith("audit/")])
        rows["points"] = sum([await self.stores.index.count(self.indexed(one)) for one in document_ids])
        return {name: count for name, count in rows.items() if count}


@asynccontextmanager
async def open_house(
    desk: Desk, settings: Settings, index: VectorIndex | None = None, *, patience_seconds: float = 2
) -> AsyncIterator[House]:
    blobs = MoodyBlobs(settings.server.data_dir / "blobs")
    plain = build_stores(settings)
    stores = replace(
        plain,
        blobs=blobs,
        ledger=build_ledger(plain.database, _as_blobs(blobs), plain.archive),
        index=index or plain.index,
    )
    parts = build_parts(settings, stores, Passwords(CHEAP_HASHER))
    finishing = replace(parts.removal.finishing, patience_seconds=patience_seconds)
    parts = replace(parts, removal=replace(parts.removal, finishing=finishing))
    with app_of(parts) as app:
        async with serving(framed(app, settings)) as anonymous:
            url = str(anonymous.base_url)
            async with local_client(url, headers=desk.owner.headers, timeout=60) as client:
                yield House(desk, client, stores, parts, url, blobs)
    await parts.events.close()
    await parts.pictures.close()
    await stores.close()


def _as_blobs(blobs: FolderBlobs) -> Blobs:
    return blobs
