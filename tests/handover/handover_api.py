"""A running API with a hand-over queue in folders, and direct access to its rows and objects."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
from pydantic import SecretStr

from muniment.bootstrap.handover import build_document_handover
from muniment.bootstrap.stores import build_ledger, build_stores
from muniment.errors import Unavailable
from muniment.handover.job_key import JobKey
from muniment.handover.queue import HandoverStores
from muniment.handover.sidecar import Sidecar, parse_sidecar
from muniment.handover.sweep import HandoverSweep
from muniment.settings import Settings
from muniment.settings.handover import HandoverSettings
from muniment.storage.objects.folder.store import VersionedFolderStore
from muniment.storage.objects.port import ObjectWriter
from tests.documents.uploads import a_pdf
from tests.support.live_api import RunningApi, running_api
from tests.support.seed import Person, Seed

INTERNAL_KEY, OLD_KEY = "key of the archiver, long enough", "key before that, also long enough"
ARCHIVER = {"Authorization": f"Bearer {INTERNAL_KEY}"}


class FlakyQueue(VersionedFolderStore):
    """Folder store that fails on demand."""

    is_down = False
    before_put: Callable[[str], Awaitable[None]] | None = None
    """Called just before a small object is overwritten."""

    @asynccontextmanager
    async def writer(self, key: str, *, content_type: str | None = None) -> AsyncIterator[ObjectWriter]:
        self._require_up()
        async with super().writer(key, content_type=content_type) as writer:
            yield writer

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str | None = None) -> bool:
        self._require_up()
        if self.before_put:
            await self.before_put(key)
        return await super().put_if_absent(key, data, content_type=content_type)

    async def exists(self, key: str) -> bool:
        self._require_up()
        return await super().exists(key)

    def _require_up(self) -> None:
        if self.is_down:
            raise Unavailable("The queue does not answer")


@dataclass
class HandoverApi:
    api: RunningApi
    seed: Seed
    owner: Person
    kb_id: UUID
    client: httpx.AsyncClient
    """Client of the owner."""
    queue: FlakyQueue
    dead_letters: VersionedFolderStore

    @property
    def organization_id(self) -> UUID:
        return self.owner.organization_id

    def path(self, document_id: UUID) -> str:
        return f"/api/v1/knowledge-bases/{self.kb_id}/documents/{document_id}"

    async def document(self, content: bytes | None = None, *, status: str = "archived", **columns: Any) -> UUID:
        """Add a document with its original in the store."""
        content = a_pdf() if content is None else content
        name = columns.pop("name", f"{uuid4().hex}.pdf")
        sha256 = hashlib.sha256(content).hexdigest()
        document_id = self.seed.document(
            self.kb_id, self.owner, name=name, status=status, sha256=sha256, file_size=len(content), **columns
        )
        await self.api.stores.objects.put(f"{self.kb_id}/{document_id}/1/original", content)
        return document_id

    async def hand_over(self, content: bytes | None = None, **fields: Any) -> httpx.Response:
        """Submit a PDF as another application does, by default with the owner's client and organization."""
        client: httpx.AsyncClient = fields.pop("client", self.client)
        organization_id = fields.pop("organization_id", self.organization_id)
        given = {"document_type": "invoice", "document_id": str(uuid4()), **fields}
        return await client.post(
            f"/api/v1/organizations/{organization_id}/archive",
            files={"file": ("any name.pdf", a_pdf() if content is None else content)},
            data={name: value for name, value in given.items() if value is not None},
        )

    async def patch(self, document_id: UUID | str, key: str, status: str, **said: Any) -> httpx.Response:
        body = {"organization_id": str(self.organization_id), "r2_object_key": key, "archive_status": status, **said}
        return await self.api.anonymous.patch(f"/internal/v1/archive-audit/{document_id}", json=body, headers=ARCHIVER)

    def key(self, content: bytes | None = None, document_type: str = "other") -> JobKey:
        content = a_pdf() if content is None else content
        return JobKey(self.organization_id, document_type, hashlib.sha256(content).hexdigest())

    async def sweep(self, *, later: timedelta = timedelta(0)) -> None:
        """Sweep as the worker does, after the given time has passed."""
        self.seed.execute("UPDATE archive_audit_log SET next_attempt_at = next_attempt_at - %s", later)
        await HandoverSweep(build_document_handover(self.api.settings, self.api.stores)).sweep()

    async def jobs(self, store: VersionedFolderStore | None = None) -> list[str]:
        return [info.key async for info in (store or self.queue).list()]

    async def sidecar(self, key: JobKey) -> Sidecar:
        return parse_sidecar(await self.queue.get(key.sidecar))

    async def empty_queue(self) -> None:
        for key in await self.jobs():
            await self.queue.delete(key)

    def rows(self, columns: str = "archive_status", where: str = "true") -> list[Any]:
        found = self.seed.rows(f"SELECT {columns} FROM archive_audit_log WHERE {where} ORDER BY created_at")
        return [row[0] if len(row) == 1 else row for row in found]

    def document_status(self, document_id: UUID) -> tuple[Any, ...]:
        """Return status, job and Paperless address of the document's hand-over."""
        [row] = self.seed.rows(
            "SELECT archive_status, archive_job_id, paperless_doc_url FROM documents WHERE id = %s", document_id
        )
        return row

    def actions(self) -> list[str]:
        return [line["action"] for line in self.seed.audit_lines()]


@asynccontextmanager
async def open_handover_api(settings: Settings, seed: Seed) -> AsyncIterator[HandoverApi]:
    archive = HandoverSettings(internal_api_key=SecretStr(INTERNAL_KEY), internal_api_key_old=SecretStr(OLD_KEY))
    settings = settings.model_copy(update={"archive": archive})
    plain = build_stores(settings)
    folder: Path = settings.server.data_dir
    queue, letters = FlakyQueue(folder / "archive-queue"), VersionedFolderStore(folder / "archive-dlq")
    archive_stores = HandoverStores(queue, letters)
    ledger = build_ledger(plain.database, plain.objects, archive_stores)
    owner = seed.person(is_operator=True)
    stores = replace(plain, handover=archive_stores, ledger=ledger)
    async with running_api(settings, stores) as api, api.client(owner) as client:
        yield HandoverApi(api, seed, owner, seed.knowledge_base(owner), client, queue, letters)
