"""Nodes before extraction: FetchDocumentRecord, AlreadyProcessedCheck and MarkProcessingStarted."""

from langgraph.runtime import Runtime

from muniment.processing.pipeline.context import RunContext, RunState, artifact_state
from muniment.processing.pipeline.publishing import PROCESSED_STATUSES, mark_started, pin_artifact
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

_ALREADY_PROCESSED_CHECK = "AlreadyProcessedCheck"


async def fetch_document_record(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """Record the step; the claim of the run has already read the document's record."""
    runtime.context.record_step("FetchDocumentRecord")
    return {}


async def already_processed_check(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """Check whether the document already shows the result of this run. A forced run is carried out anyway."""
    context, record = runtime.context, runtime.context.record
    shows_result = record.artifact_text_id is not None and record.processing_status in PROCESSED_STATUSES
    if context.run.force or not shows_result:
        context.record_step(_ALREADY_PROCESSED_CHECK)
        return {"is_processed": False}
    async with context.transaction(_ALREADY_PROCESSED_CHECK) as work:
        artifact = await context.services.find_complete_artifact(work, context.run, record)
        if artifact is None or artifact.id != record.artifact_text_id:
            return {"is_processed": False}
        await pin_artifact(work, context.run, artifact, is_reused=False)
    return {"is_processed": True, **artifact_state(artifact)}


def is_processed(state: RunState) -> bool:
    """Return the answer of AlreadyProcessedCheck, at which the graph branches."""
    return state["is_processed"]


async def mark_processing_started(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """Mark the document as being processed, in the next transaction."""
    run = runtime.context.run

    async def mark(work: Work[Service]) -> None:
        await mark_started(work, run)

    runtime.context.record_step("MarkProcessingStarted")
    runtime.context.defer(mark)
    return {}
