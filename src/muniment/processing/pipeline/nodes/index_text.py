"""Node Index: build chunks and vectors of an artifact once, and copy them to an external index."""

import asyncio
import time
from contextlib import suppress
from uuid import UUID

from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.errors import Unavailable
from muniment.processing.pipeline.context import RunContext, RunState
from muniment.processing.pipeline.progress import ProgressReporter, StepTurn
from muniment.processing.runs.repository import RunSuperseded
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.builder import EmbeddedBatch, build_index
from muniment.search.indexing.partial_vectors import PartialVectorRepository
from muniment.search.indexing.repository import IndexRepository, NewIndex
from muniment.search.variants import variant_for
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.objects.async_io import run_to_completion
from muniment.storage.tasks.port import GiveUpSlot
from muniment.storage.vectors.port import IndexedDocument
from muniment.telemetry.metrics import INDEXES

INDEX = "Index"


async def index_text(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """Build the missing indexes of the artifact and copy its passages to the external index."""
    context, artifact_id = runtime.context, state["artifact_text_id"]
    async with context.compute_lock(f"index {artifact_id}"):
        await _build_missing(context, artifact_id)
    if context.services.index_copier is not None:
        # Stored under this run's epoch: nobody finds the copies before the document has this index epoch.
        await context.services.index_copier.copy(index_target(context), artifact_id, context.run.epoch)
    context.record_step(INDEX)
    return {}


def index_target(context: RunContext) -> IndexedDocument:
    """Return the document of a run as the external index knows it."""
    return IndexedDocument(context.run.document_id, context.record.kb_id, context.run.organization_id)


async def _build_missing(context: RunContext, artifact_id: UUID) -> None:
    services = context.services
    async with context.progress_transaction(INDEX) as work:
        missing = await services.installed_models.list_missing(work, artifact_id)
        if not missing:
            return
        artifact = await ArtifactRepository(work.session).get(artifact_id)
        await services.installed_models.register(work)
    for embedder in missing.values():
        await _IndexRun(context, artifact, embedder).carry_out()
        INDEXES.labels("compute").inc()


class _IndexRun:
    """Computes one index, continuing where an interrupted run has stopped.

    Between two batches it reports progress and gives up the slot if the turn of its organization is over.
    """

    def __init__(self, context: RunContext, artifact: TextArtifact, embedder: Embedder) -> None:
        self._context = context
        self._artifact = artifact
        self._embedder = embedder
        self._progress = ProgressReporter(context, INDEX, artifact.total_pages)
        self._began = self._saved_at = time.monotonic()
        self._turn: StepTurn | None = None
        self._unsaved: list[bytes] = []
        self._first_unsaved = 0
        self._has_stored = False

    async def carry_out(self) -> None:
        """Compute the index and store it."""
        new = await self._build()
        async with self._context.progress_transaction(INDEX) as work:
            await IndexRepository(work.session).add_once(new)
            if self._has_stored:
                await self._stored(work).delete()

    async def _build(self) -> NewIndex:
        context = self._context
        try:
            return await build_index(
                context.services.database,
                context.services.objects,
                self._embedder,
                self._artifact,
                organization_id=context.run.organization_id,
                pages=context.pending.pages,
                known_vectors=await self._load(),
                after_batch=self._after_batch,
            )
        except (asyncio.CancelledError, GiveUpSlot, Unavailable):
            # The worker stops, or the run goes back to the queue. If it has ended instead, the fence refuses.
            with suppress(Unavailable, RunSuperseded):
                await run_to_completion(self._save())
            context.pending.pages = None  # a repetition of this node begins with what is stored now
            raise

    async def _load(self) -> list[bytes]:
        if self._context.pending.pages is not None:
            return []  # this run has just made the artifact, so no other can have begun to index it
        async with self._context.services.database.service_work(self._context.service) as work:
            known = await self._stored(work).list_()
        self._has_stored = bool(known)
        return known

    async def _after_batch(self, batch: EmbeddedBatch) -> None:
        if not self._unsaved:
            self._first_unsaved = batch.first_chunk
        self._unsaved += batch.vectors
        if time.monotonic() - self._saved_at >= self._context.services.partial_results_interval:
            await self._save()
        await self._progress.report_page(batch.last_page)
        self._turn = self._turn or StepTurn(self._context, self._began)
        await self._turn.give_up_if_over()

    async def _save(self) -> None:
        """Store the vectors that are not stored yet, behind the fence."""
        if not self._unsaved:
            return
        async with self._context.progress_transaction(INDEX) as work:
            await self._stored(work).add(self._first_unsaved, self._unsaved)
        self._unsaved, self._saved_at, self._has_stored = [], time.monotonic(), True

    def _stored(self, work: Work[Service]) -> PartialVectorRepository:
        return PartialVectorRepository(work.session, self._artifact, variant_for(self._embedder))
