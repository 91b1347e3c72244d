from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.results import hydration
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

SAVE_PAGES = "SavePages"


async def save_pages(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact pages -> the pages of the document; what people wrote upon them stays"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_pages(work.session, run, state["artifact_text_id"])

    runtime.context.later(SAVE_PAGES, save)
    return {}
