from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.results import hydration

NAME = "UpdateMetrics"


async def update_metrics(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact -> number of pages and words, method, and the reference that keeps it"""
    async with runtime.context.step(NAME) as work:
        await hydration.save_metrics(work.session, runtime.context.run, state["artifact_text_id"])
    return {}
