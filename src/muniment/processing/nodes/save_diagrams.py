from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.results import hydration
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

SAVE_DIAGRAMS = "SaveDiagrams"


async def save_diagrams(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact diagrams -> the diagrams of the document"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_diagrams(work.session, run, state["artifact_text_id"])

    runtime.context.later(SAVE_DIAGRAMS, save)
    return {}
