from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.processing.results import hydration
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

UPDATE_METRICS = "UpdateMetrics"


async def update_metrics(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact -> number of pages and words, method, and the reference that keeps it"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_metrics(work.session, run, state["artifact_text_id"])

    runtime.context.later(UPDATE_METRICS, save)
    return {}
