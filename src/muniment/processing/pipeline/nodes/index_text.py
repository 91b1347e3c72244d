"""Node Index: build chunks and vectors of an artifact once, and copy them to an external index."""

from uuid import UUID

from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.processing.pipeline.context import Context, RunState
from muniment.search.indexing.builder import index_text
from muniment.search.indexing.repository import IndexRepository
from muniment.storage.tasks.port import PutBack
from muniment.storage.vectors.port import Indexed
from muniment.telemetry.metrics import INDEXES

INDEX = "Index"
PUT_BACK_SECONDS = 1


async def index(state: RunState, runtime: Runtime[Context]) -> RunState:
    context, text_id = runtime.context, state["artifact_text_id"]
    async with context.tools.locks.attempt(f"index {text_id}") as is_ours:
        if not is_ours:
            raise PutBack(PUT_BACK_SECONDS)  # somebody makes the same right now, as in ExtractText
        await _make_missing(context, text_id)
    if context.tools.copies is not None:
        # Under this run's epoch: nobody finds them before the document names it.
        await context.tools.copies.put(indexed(context, state), text_id, context.run.epoch)
    context.later(INDEX)
    return {}


def indexed(context: Context, state: RunState) -> Indexed:
    return Indexed(context.run.document_id, state["kb_id"], context.run.organization_id)


async def _make_missing(context: Context, text_id: UUID) -> None:
    tools = context.tools
    async with context.within(INDEX) as work:
        missing = await tools.indexing.list_missing(work, text_id)
        full = await ArtifactRepository(work.session).get(text_id) if missing else None
    for embedder in missing.values():
        assert full is not None
        new = await index_text(
            tools.database,
            tools.blobs,
            embedder,
            full,
            organization_id=context.run.organization_id,
            pages=context.pending.pages,
        )
        async with context.within(INDEX) as work:
            await IndexRepository(work.session).add_once(new)
        INDEXES.labels("compute").inc()
