"""Node IndexText: store the chunks of an artifact once, and queue the computation of their vectors."""

import time
from uuid import UUID

from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.processing.pipeline.context import RunContext, RunState, WaitForVectors
from muniment.processing.pipeline.progress import ProgressReporter, StepTurn
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.builder import build_index
from muniment.search.indexing.repository import IndexRepository
from muniment.storage.tasks.port import RunRequest
from muniment.storage.vectors.port import IndexedDocument

INDEX_TEXT = "IndexText"


async def index_text(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """Store the chunks that are missing.

    A first reading goes on without vectors. A run that needs them gives up its slot until they are complete.
    """
    context, artifact_id = runtime.context, state["artifact_text_id"]
    async with context.compute_lock(f"index {artifact_id}"):
        await _store_missing(context, artifact_id)
    if context.services.waits_for_vectors(context.run) and not await _is_embedded(context, artifact_id):
        raise WaitForVectors
    if context.services.index_copier is not None:
        # Stored under this run's epoch: nobody finds the copies before the document has this index epoch.
        await context.services.index_copier.copy(index_target(context), artifact_id, context.run.epoch)
    context.record_step(INDEX_TEXT)
    return {}


def index_target(context: RunContext) -> IndexedDocument:
    """Return the document of a run as the external index knows it."""
    return IndexedDocument(context.run.document_id, context.record.kb_id, context.run.organization_id)


async def _is_embedded(context: RunContext, artifact_id: UUID) -> bool:
    async with context.progress_transaction(INDEX_TEXT) as work:
        return (await context.services.installed_models.find_progress(work, artifact_id)).is_embedded


async def _store_missing(context: RunContext, artifact_id: UUID) -> None:
    """Store the chunks for each model that lacks them."""
    models = context.services.installed_models
    async with context.progress_transaction(INDEX_TEXT) as work:
        progress = await models.find_progress(work, artifact_id)
        if not progress.missing:
            return
        artifact = await ArtifactRepository(work.session).get(artifact_id)
        await models.register(work)
    for embedder in progress.missing.values():
        await _store_chunks(context, artifact, embedder)


async def _store_chunks(context: RunContext, artifact: TextArtifact, embedder: Embedder) -> None:
    """Split the text for one model. The transaction that stores the chunks queues the computation of their vectors."""
    services, run = context.services, context.run
    progress, turn = ProgressReporter(context, INDEX_TEXT, artifact.total_pages), StepTurn(context, time.monotonic())

    async def after_batch(page: int) -> None:
        await progress.report_page(page)
        if page < artifact.total_pages:
            await turn.give_up_if_over()

    new = await build_index(
        services.database,
        services.objects,
        embedder,
        artifact,
        organization_id=run.organization_id,
        knowledge_base_id=context.record.kb_id,
        pages=context.pending.pages,
        after_batch=after_batch,
    )
    async with context.progress_transaction(INDEX_TEXT) as work:
        index, is_new = await IndexRepository(work.session).add_once(new)
        if is_new and index.embedded_at is None:
            request = RunRequest(purpose=run.purpose)
            await services.tasks.enqueue_embedding(
                work, artifact.id, index.fingerprint, passages=index.total_chunks, request=request
            )
