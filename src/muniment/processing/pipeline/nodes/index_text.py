"""Node Index: build chunks and vectors of an artifact once, and copy them to an external index."""

from uuid import UUID

from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.processing.pipeline.context import RunContext, RunState
from muniment.search.indexing.builder import build_index
from muniment.search.indexing.repository import IndexRepository
from muniment.storage.tasks.port import RetryLater
from muniment.storage.vectors.port import IndexedDocument
from muniment.telemetry.metrics import INDEXES

INDEX = "Index"
LOCKED_RETRY_SECONDS = 1


async def index_text(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    context, text_id = runtime.context, state["artifact_text_id"]
    async with context.services.locks.try_acquire(f"index {text_id}") as is_ours:
        if not is_ours:
            raise RetryLater(LOCKED_RETRY_SECONDS)  # somebody makes the same right now, as in ExtractText
        await _build_missing(context, text_id)
    if context.services.index_copier is not None:
        # Under this run's epoch: nobody finds them before the document names it.
        await context.services.index_copier.copy(index_target(context, state), text_id, context.run.epoch)
    context.record_step(INDEX)
    return {}


def index_target(context: RunContext, state: RunState) -> IndexedDocument:
    return IndexedDocument(context.run.document_id, state["kb_id"], context.run.organization_id)


async def _build_missing(context: RunContext, artifact_id: UUID) -> None:
    tools = context.services
    async with context.progress_transaction(INDEX) as work:
        missing = await tools.installed_models.list_missing(work, artifact_id)
        full = await ArtifactRepository(work.session).get(artifact_id) if missing else None
    for embedder in missing.values():
        assert full is not None
        new = await build_index(
            tools.database,
            tools.blobs,
            embedder,
            full,
            organization_id=context.run.organization_id,
            pages=context.pending.pages,
        )
        async with context.progress_transaction(INDEX) as work:
            await IndexRepository(work.session).add_once(new)
        INDEXES.labels("compute").inc()
