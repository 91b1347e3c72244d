from langgraph.runtime import Runtime

from muniment.processing.completion import mark_complete, show
from muniment.processing.context import Context, RunState

NAME = "SwitchToResult"


async def switch_to_result(state: RunState, runtime: Runtime[Context]) -> RunState:
    """old result -> new result, in one transaction: until then the old one is as it was"""
    async with runtime.context.step(NAME, lasting=True) as work:
        await show(work, runtime.context.run, state["artifact_text_id"])
        await mark_complete(work, runtime.context.run)
    return {}
