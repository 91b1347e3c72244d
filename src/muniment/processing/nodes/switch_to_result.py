from langgraph.runtime import Runtime

from muniment.processing.completion import mark_complete, show
from muniment.processing.context import Context, RunState

NAME = "SwitchToReread"


async def switch_to_reread(state: RunState, runtime: Runtime[Context]) -> RunState:
    """old result -> new result, in one transaction: until then the old one answered"""
    async with runtime.context.step(NAME, lasting=True) as work:
        await show(work, runtime.context.run, state["artifact_text_id"])
        await mark_complete(work, runtime.context.run)
    return {}
