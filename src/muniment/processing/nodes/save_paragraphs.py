from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.results import hydration
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

SAVE_PARAGRAPHS = "SaveParagraphs"


async def save_paragraphs(state: RunState, runtime: Runtime[Context]) -> RunState:
    """annotations of paragraphs -> the places where their text stands now"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_paragraphs(work.session, run, state["artifact_text_id"])

    runtime.context.later(SAVE_PARAGRAPHS, save)
    return {}
