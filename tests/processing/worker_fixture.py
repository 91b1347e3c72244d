"""The parts of a worker without its queue: documents with real bytes, and runs executed one by one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, BinaryIO
from uuid import UUID

import pytest

from muniment.artifacts.deletion import ArtifactDeleter
from muniment.artifacts.keys import ContentKeyFactory, ReadingVariant, SharingScope, reading_variant
from muniment.processing.pipeline.context import RunServices, WaitForVectors
from muniment.processing.pipeline.embedding_jobs import EmbeddingProcessor
from muniment.processing.pipeline.nodes.error_handling import INTERNAL_ERROR_RETRY_SECONDS, RetryAfterInternalError
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.contract import (
    ExtractedPage,
    ExtractionMethod,
    Figure,
    FigureKind,
    Paragraph,
    ParagraphKind,
    ReaderResources,
    ReadingOptions,
    Word,
)
from muniment.processing.sandbox.client import OpenedFile
from muniment.search.indexing.repository import InstalledModels
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import Deleter, ObjectDeleter
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.objects.port import ObjectStore
from muniment.storage.tasks.port import FAST, FIRST_RUN, READING, MoveToQueue, RunJob, RunRequest
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from muniment.storage.tasks.worker_registry import WorkerRegistry
from tests.search.letter_embedder import LetterEmbedder
from tests.support.seed import HMAC_SECRET, Person, Seed
from tests.support.vectors import embed_waiting, embedding_processor

FIRST_TEXT, SECOND_TEXT = "About invoices.\n\nAnd about contracts.", "The second page."
PICTURE = Figure(FigureKind.PICTURE, "ab" * 32, 640, 480, box=(72, 72, 272, 222), caption="Figure 1: A picture")
PAGES = (
    ExtractedPage(
        1,
        FIRST_TEXT,
        ExtractionMethod.TEXT,
        paragraphs=(Paragraph(0, 15, ParagraphKind.HEADING, (72, 72, 200, 84)), Paragraph(17, 37)),
        words=(Word(0, 5, (72, 72, 100, 84)), Word(6, 15, (104, 72, 150, 84))),
        figures=(PICTURE, PICTURE),
        width=595.0,
        height=842.0,
    ),
    ExtractedPage(
        2, SECOND_TEXT, ExtractionMethod.OCR, paragraphs=(Paragraph(0, 16),), figures=(PICTURE,), confidence=0.93
    ),
)


@dataclass
class _Opened:
    total_pages: int
    pages: AsyncIterator[ExtractedPage]


@dataclass
class FixedReader:
    """Returns the same pages for every file: these tests are about processing, not about reading."""

    pages: Sequence[ExtractedPage] = PAGES
    opened: int = 0
    error: Exception | None = None
    meanwhile: Callable[[], object] = lambda: None
    """Called when a file is opened."""

    @asynccontextmanager
    async def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AsyncIterator[OpenedFile]:
        self.opened += 1
        assert file.read(1)
        self.meanwhile()
        if self.error:
            raise self.error
        yield _Opened(len(self.pages), self._each())

    async def _each(self) -> AsyncIterator[ExtractedPage]:
        for page in self.pages:
            yield page


def worker_registry(database: Database) -> WorkerRegistry:
    """Another worker each time. Without being registered, it counts as one of the previous version."""
    return WorkerRegistry(database, heartbeat=timedelta(seconds=5), stalled_after=timedelta(seconds=30))


async def last_attempt(process: Callable[[], Awaitable[object]]) -> None:
    """Process a run with internal errors until it no longer asks for a retry, without the pauses."""
    for _ in INTERNAL_ERROR_RETRY_SECONDS:
        with pytest.raises(RetryAfterInternalError):
            await process()
    await process()


@dataclass
class WorkerFixture:
    """One owner with one knowledge base, and the parts of a worker."""

    seed: Seed
    database: Database
    objects: ObjectStore
    locks: AdvisoryLocks
    reader: FixedReader = field(default_factory=FixedReader)
    reading: ReadingVariant = field(default_factory=lambda: reading_variant({"of": "the tests"}))
    scope: SharingScope = SharingScope.ORGANIZATION
    embedder: LetterEmbedder = field(default_factory=LetterEmbedder)
    other_embedders: tuple[LetterEmbedder, ...] = ()
    resources: ReaderResources = field(default_factory=ReaderResources)
    owner: Person = field(init=False)
    kb_id: UUID = field(init=False)

    def __post_init__(self) -> None:
        self.owner = self.seed.person()
        self.kb_id = self.seed.knowledge_base(self.owner)

    @property
    def services(self) -> RunServices:
        is_shared = self.scope is SharingScope.SHARED
        indexing = InstalledModels(self.embedder, self.other_embedders)
        return RunServices(
            self.database,
            self.objects,
            self.locks,
            self.reader,
            ReadingOptions(),
            self.reading,
            is_shared,
            indexing,
            self.ledger,
            worker_registry(self.database),
            ProcrastinateQueue(),
            self.resources,
        )

    @property
    def ledger(self) -> Ledger:
        deleters: dict[LedgerStore, Deleter] = {
            LedgerStore.OBJECTS: ObjectDeleter(self.objects),
            LedgerStore.ARTIFACTS: ArtifactDeleter(self.database, self.objects),
        }
        return Ledger(self.database, deleters)

    def worker(self) -> RunProcessor:
        return RunProcessor(self.services)

    async def document(
        self, content: bytes = b"bytes", *, owner: Person | None = None, kb_id: UUID | None = None, **columns: Any
    ) -> UUID:
        """Add a pending document with its bytes in the store and its run in the queue."""
        owner, kb_id = owner or self.owner, kb_id or self.kb_id
        name = columns.pop("name", f"{self.seed.one('SELECT count(*) FROM documents')}.pdf")
        document_id = self.seed.document(kb_id, owner, name=name, status="pending", **columns)
        hashed = ContentKeyFactory(HMAC_SECRET, self.scope).new_hasher(
            organization_id=owner.organization_id, document_id=document_id
        )
        hashed.update(content)
        self.seed.execute("UPDATE documents SET content_hmac = %s WHERE id = %s", hashed.content_key, document_id)
        self.seed.set_original(document_id, content)
        await self.objects.put(f"{kb_id}/{document_id}/1/original", content)
        await self.enqueue(document_id, owner=owner)
        return document_id

    async def enqueue(
        self, document_id: UUID, wish: RunRequest = FIRST_RUN, *, owner: Person | None = None, epoch: int = 1
    ) -> UUID:
        async with self.database.work((owner or self.owner).principal) as work:
            return await ProcrastinateQueue().enqueue_run(work, document_id, epoch, wish)

    def job(self, document_id: UUID, queue: str = READING) -> RunJob:
        """Return a job of the document's newest run."""
        question = """SELECT run_id, organization_id FROM document_processing_runs
                       WHERE document_id = %s ORDER BY epoch DESC LIMIT 1"""
        ((run_id, organization_id),) = self.seed.rows(question, document_id)
        return RunJob(run_id, organization_id, queue)

    async def process(self, document_id: UUID) -> str:
        """Process the newest run of the document, and the vectors. Return the queue that ended the run."""
        return await self.process_with(self.worker(), document_id)

    async def process_with(self, worker: RunProcessor, document_id: UUID) -> str:
        """Process like the queues: the fast queue first, the reading queue if requested, then the vectors. A run that
        waits for them is continued. Return the queue that ended the run."""
        queue = FAST
        try:
            await worker(self.job(document_id, FAST))
        except MoveToQueue as moved:
            queue = moved.queue
            try:
                await worker(self.job(document_id, queue))
            except WaitForVectors:
                await self.embed()
                await worker(self.job(document_id, queue))
        await self.embed()
        return queue

    async def embed(self) -> int:
        """Carry out the embedding jobs that wait. Return how many there were."""
        return await embed_waiting(self.seed, self.embedding())

    def embedding(self) -> EmbeddingProcessor:
        return embedding_processor(self.database, self.services.installed_models)

    def status(self, document_id: UUID) -> str:
        return str(self.seed.one("SELECT status FROM documents WHERE id = %s", document_id))
