from langgraph.runtime import Runtime

from muniment.processing.completion import mark_started
from muniment.processing.context import Context, RunState

NAME = "MarkProcessingStarted"


async def mark_processing_started(state: RunState, runtime: Runtime[Context]) -> RunState:
    """pending -> processing"""
    async with runtime.context.step(NAME) as work:
        await mark_started(work, runtime.context.run)
    return {}
