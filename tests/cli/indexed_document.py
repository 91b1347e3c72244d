"""A running API with an indexed document, and `muniment` commands as a user or assistant starts them."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph
from muniment.search.query.service import SearchService
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from tests.processing.worker_fixture import WorkerFixture
from tests.support.cluster import service_login
from tests.support.commands import CommandResult, run_command
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

NAME = "Terms of payment.pdf"
FIRST, SECOND = "Every invoice is due within thirty days.", "Late payment costs interest."


@dataclass(frozen=True)
class IndexedDocumentServer:
    api: RunningApi
    worker_env: WorkerFixture
    folder: Path
    document_id: UUID

    @property
    def kb_id(self) -> UUID:
        return self.worker_env.kb_id

    @property
    def token(self) -> str:
        return self.worker_env.owner.token

    async def add(
        self, content: bytes, texts: Sequence[str], *, name: str, media_type: str = "application/pdf"
    ) -> UUID:
        """Add a document whose pages have these texts."""
        self.worker_env.reader.pages = pages(texts)
        document_id = await self.worker_env.document(content, name=name, media_type=media_type)
        await self.worker_env.process(document_id)
        return document_id

    def environment(self, **changes: str) -> dict[str, str]:
        ours = {name: os.environ[name] for name in ("PYTHONPATH", "PYTHONWARNINGS") if name in os.environ}
        return {"PATH": "/usr/bin:/bin", **ours, "MUNIMENT_URL": self.api.url, "MUNIMENT_TOKEN": self.token, **changes}

    async def run(self, *arguments: str, **environment: str) -> CommandResult:
        """Run a command in a thread, because the server runs in this event loop."""
        return await asyncio.to_thread(run_command, self.folder, *arguments, **self.environment(**environment))


def pages(texts: Sequence[str]) -> list[ExtractedPage]:
    return [
        ExtractedPage(number, text, ExtractionMethod.TEXT, paragraphs=(Paragraph(0, len(text)),))
        for number, text in enumerate(texts, 1)
    ]


@asynccontextmanager
async def open_server(
    api: RunningApi, address: DatabaseAddress, seed: Seed, folder: Path
) -> AsyncIterator[IndexedDocumentServer]:
    locks = AdvisoryLocks(service_login(address), max_connections=4)
    worker_env = WorkerFixture(seed, api.stores.database, api.stores.objects, locks)
    # The API uses the same small model as the indexed documents.
    embedders = {worker_env.embedder.model: worker_env.embedder}
    searching = SearchService(api.stores.database, PgvectorSearch(api.stores.database), embedders)
    api.app.state.services = replace(api.services, search=searching)
    worker_env.reader.pages = pages([FIRST, SECOND])
    document_id = await worker_env.document(name=NAME)
    await worker_env.process(document_id)
    yield IndexedDocumentServer(api, worker_env, folder, document_id)
    await locks.close()
