"""A knowledge base whose documents are replaced over HTTP and processed by a worker of the test."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import httpx

from muniment.bootstrap.stores import Stores
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.storage.vectors.port import IndexedDocument
from tests.documents.uploads import a_pdf
from tests.processing.worker_fixture import PAGES, WorkerFixture, last_attempt
from tests.search.letter_embedder import LetterEmbedder
from tests.support.external_index import copier_of

ENCRYPTED = Unreadable(UnreadableCode.ENCRYPTED, "The file is protected by a password.")
NEW_TEXT = "About penguins.\n\nAnd about contracts."
NEW_PAGES = (ExtractedPage(1, NEW_TEXT, ExtractionMethod.TEXT, paragraphs=(Paragraph(0, 15), Paragraph(17, 37))),)
SHOWN = """SELECT p.page_number, p.annotations, p.flags, p.stale_at, p.artifact_page_id, p.updated_at
             FROM document_pages p WHERE document_id = %s ORDER BY 1"""
WRITTEN = "SELECT * FROM document_paragraphs WHERE document_id = %s ORDER BY page_number, paragraph_index"
DRAWN = "SELECT * FROM document_diagrams WHERE document_id = %s ORDER BY page_number, diagram_key"


class FailingEmbedder(LetterEmbedder):
    def count_tokens(self, text: str) -> int:
        raise RuntimeError("a fault of the test")


@dataclass(frozen=True)
class ReplaceHarness:
    worker_env: WorkerFixture
    client: httpx.AsyncClient
    stores: Stores

    def path(self, document_id: UUID, place: str) -> str:
        return f"/api/v1/knowledge-bases/{self.worker_env.kb_id}/documents/{document_id}/{place}"

    async def post(self, document_id: UUID, place: str) -> httpx.Response:
        return await self.client.post(self.path(document_id, place))

    async def replace(self, document_id: UUID, content: bytes | None = None, name: str = "new.pdf") -> httpx.Response:
        content = a_pdf("Another report") if content is None else content
        return await self.client.post(self.path(document_id, "replace"), files={"file": (name, content)})

    async def revert(self, document_id: UUID) -> httpx.Response:
        return await self.post(document_id, "replace/revert")

    async def completed(self, name: str = "old.pdf", content: bytes = b"old bytes") -> UUID:
        self.worker_env.reader.pages, self.worker_env.reader.error = PAGES, None
        document_id = await self.worker_env.document(content, name=name)
        of_content = "UPDATE document_revisions r SET content_hmac = d.content_hmac FROM documents d WHERE d.id = %s"
        self.worker_env.seed.execute(
            f"{of_content} AND r.document_id = d.id", document_id
        )  # as an upload would store it
        await self.process(document_id)
        assert self.worker_env.status(document_id) == "completed"
        return document_id

    async def failed_replacement(self, document_id: UUID, name: str = "new.pdf") -> None:
        """Replace the document, and let the run end with an internal error: the document stays failed."""
        answer = await self.replace(document_id, a_pdf(name), name)
        assert answer.status_code == 200, answer.text
        await self.fail(document_id)

    async def unreadable_replacement(self, document_id: UUID, name: str = "new.pdf") -> None:
        """Replace the document with a file that cannot be read."""
        answer = await self.replace(document_id, a_pdf(name), name)
        assert answer.status_code == 200, answer.text
        await self.fail_reading(document_id)

    async def fail(self, document_id: UUID) -> None:
        """Fail the run with an error that is not the file's fault, and that remains after all retries."""
        self.worker_env.reader.error = RuntimeError("a fault of the test")
        await last_attempt(lambda: self.process(document_id))
        self.worker_env.reader.error = None
        assert self.worker_env.status(document_id) == "failed"

    async def fail_reading(self, document_id: UUID, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Process a file that cannot be read. `meanwhile` is called when the reader opens it."""
        self.worker_env.reader.error, self.worker_env.reader.meanwhile = ENCRYPTED, meanwhile
        await self.process(document_id)
        self.worker_env.reader.error, self.worker_env.reader.meanwhile = None, lambda: None

    async def fail_late(self, document_id: UUID) -> None:
        """Fail the run after the text is stored, when it is split into passages."""
        able, self.worker_env.embedder = self.worker_env.embedder, FailingEmbedder()
        await last_attempt(lambda: self.process(document_id))
        self.worker_env.embedder = able
        assert self.worker_env.status(document_id) == "failed"

    async def process(self, document_id: UUID) -> None:
        await self.worker_env.process_with(self.worker(), document_id)

    def worker(self) -> RunProcessor:
        copies = copier_of(self.worker_env.database, self.stores.vectors)
        return RunProcessor(replace(self.worker_env.services, index_copier=copies))

    def indexed(self, document_id: UUID) -> IndexedDocument:
        return IndexedDocument(document_id, self.worker_env.kb_id, self.worker_env.owner.organization_id)

    def row(self, document_id: UUID) -> dict[str, Any]:
        """Return the row as the superuser, without the columns that every move changes."""
        ((row,),) = self.worker_env.seed.rows("SELECT to_jsonb(d) FROM documents d WHERE id = %s", document_id)
        return {name: value for name, value in row.items() if name not in ("epoch", "updated_at")}

    def revisions(self, document_id: UUID) -> list[int]:
        question = "SELECT revision FROM document_revisions WHERE document_id = %s ORDER BY 1"
        return [number for (number,) in self.worker_env.seed.rows(question, document_id)]

    def shown(self, document_id: UUID) -> list[Any]:
        """Return every row of pages, paragraphs and diagrams with its annotations."""
        return [self.worker_env.seed.rows(question, document_id) for question in (SHOWN, WRITTEN, DRAWN)]

    async def stored(self, document_id: UUID) -> list[str]:
        """Return the keys of its originals."""
        prefix = f"{self.worker_env.kb_id}/{document_id}/"
        return sorted([info.key async for info in self.stores.objects.list(prefix)])

    async def sweep(self) -> None:
        """Process due ledger entries."""
        assert await self.stores.ledger.process(self.worker_env.owner.organization_id) == 0

    async def hits(self, question: str = "contracts", mode: str = "hybrid") -> list[tuple[str, str]]:
        answer = await self.client.get("/api/v1/search", params={"q": question, "mode": mode})
        assert answer.status_code == 200, answer.text
        return [(item["document_id"], item["document_name"]) for item in answer.json()["items"]]
