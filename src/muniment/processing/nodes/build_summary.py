import structlog
from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.processing.context import Context, RunState
from muniment.processing.nodes.index import indexed
from muniment.processing.results.summary import summarise

log = structlog.get_logger()

NAME = "BuildSummary"


async def build_summary(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact -> what was read, in numbers. Writes nothing: `GET …/summary` builds the same when somebody asks."""
    context = runtime.context
    async with context.tools.database.service_work(context.service, lasting=False) as work:
        full = await ArtifactRepository(work.session).get(state["artifact_text_id"])
    summary = summarise(full)
    if context.tools.copies is not None:
        await context.tools.copies.tidy(indexed(context, state))
    log.info(
        "processing.completed",
        run_id=str(context.run.run_id),
        document_id=str(context.run.document_id),
        pages=summary.total_pages,
        unread_pages=len(summary.problems),
    )
    return {}
