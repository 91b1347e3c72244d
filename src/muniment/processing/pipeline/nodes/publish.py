"""Nodes that complete the run: MarkBasicComplete, which publishes the result, and BuildSummary. The publish steps are a
table in `pipeline.publishing`."""

from langgraph.runtime import Runtime

from muniment.processing.pipeline.context import RunContext, RunState
from muniment.processing.pipeline.nodes.index_text import index_target
from muniment.processing.pipeline.publishing import complete_run, log_completed, publish


async def mark_basic_complete(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """Publish the artifact and complete the run, in one transaction."""
    context = runtime.context
    async with context.transaction("MarkBasicComplete", durable=True) as work:
        if not state["is_processed"]:
            await publish(work, context.run, state["artifact_text_id"])
        await complete_run(work, context.run)
    return {}


async def build_summary(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """Remove outdated copies and log the result. `GET …/summary` builds the summary itself from the artifact."""
    context = runtime.context
    if context.services.index_copier is not None:
        await context.services.index_copier.remove_outdated(index_target(context))
    log_completed(context.run, pages=state["total_pages"], unread_pages=state["unread_pages"])
    return {}
