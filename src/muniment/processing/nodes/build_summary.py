import structlog
from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.nodes.index import indexed

log = structlog.get_logger()

BUILD_SUMMARY = "BuildSummary"


async def build_summary(state: RunState, runtime: Runtime[Context]) -> RunState:
    """what was read, in numbers. Writes nothing: `GET …/summary` builds it from the artifact when somebody asks."""
    context = runtime.context
    if context.tools.copies is not None:
        await context.tools.copies.tidy(indexed(context, state))
    log.info(
        "processing.completed",
        run_id=str(context.run.run_id),
        document_id=str(context.run.document_id),
        pages=state["total_pages"],
        unread_pages=state["unread_pages"],
    )
    return {}
