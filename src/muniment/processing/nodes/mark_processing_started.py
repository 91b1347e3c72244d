from langgraph.runtime import Runtime

from muniment.processing.completion import mark_started
from muniment.processing.context import Context, RunState
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

MARK_PROCESSING_STARTED = "MarkProcessingStarted"


async def mark_processing_started(state: RunState, runtime: Runtime[Context]) -> RunState:
    """pending -> processing, as soon as somebody really begins"""
    run = runtime.context.run

    async def mark(work: Work[Service]) -> None:
        await mark_started(work, run)

    runtime.context.later(MARK_PROCESSING_STARTED, mark)
    return {}
