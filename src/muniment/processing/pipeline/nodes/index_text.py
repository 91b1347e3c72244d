"""Node Index: build chunks and vectors of an artifact once, and copy them to an external index."""

from uuid import UUID

from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.processing.pipeline.context import RunContext, RunState
from muniment.search.indexing.builder import build_index
from muniment.search.indexing.repository import IndexRepository
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
        new = await build_index(
            services.database,
            services.objects,
            embedder,
            artifact,
            organization_id=context.run.organization_id,
            pages=context.pending.pages,
        )
        async with context.progress_transaction(INDEX) as work:
            await IndexRepository(work.session).add_once(new)
        INDEXES.labels("compute").inc()
