from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState

ALREADY_PROCESSED_CHECK = "AlreadyProcessedCheck"


async def already_processed_check(state: RunState, runtime: Runtime[Context]) -> RunState:
    """document -> does it show already what this run is to make? `force` does not ask."""
    runtime.context.later(ALREADY_PROCESSED_CHECK)
    return {"is_processed": "artifact_text_id" in state and not runtime.context.run.force}


def is_processed(state: RunState) -> bool:
    return state["is_processed"]
