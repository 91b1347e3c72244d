from langgraph.runtime import Runtime

from muniment.processing.completion import mark_complete
from muniment.processing.context import Context, RunState

MARK_BASIC_COMPLETE = "MarkBasicComplete"


async def mark_basic_complete(state: RunState, runtime: Runtime[Context]) -> RunState:
    """processing -> completed, and the run with it: in the transaction in which the document shows the new result"""
    async with runtime.context.step(MARK_BASIC_COMPLETE, lasting=True) as work:
        await mark_complete(work, runtime.context.run)
    return {}
