from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.results import hydration

NAME = "SaveDiagrams"


async def save_diagrams(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact diagrams -> the diagrams of the document"""
    async with runtime.context.step(NAME) as work:
        await hydration.save_diagrams(work.session, runtime.context.run, state["artifact_text_id"])
    return {}
