from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.results import hydration

NAME = "SavePages"


async def save_pages(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact pages -> the pages of the document; what people wrote upon them stays"""
    async with runtime.context.step(NAME) as work:
        await hydration.save_pages(work.session, runtime.context.run, state["artifact_text_id"])
    return {}
