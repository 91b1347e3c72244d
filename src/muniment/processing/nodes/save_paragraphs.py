from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.results import hydration

NAME = "SaveParagraphs"


async def save_paragraphs(state: RunState, runtime: Runtime[Context]) -> RunState:
    """annotations of paragraphs -> the places where their text stands now"""
    async with runtime.context.step(NAME) as work:
        await hydration.save_paragraphs(work.session, runtime.context.run, state["artifact_text_id"])
    return {}
