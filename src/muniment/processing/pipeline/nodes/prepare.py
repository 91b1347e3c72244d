"""Nodes before extraction: FetchDocumentRecord, AlreadyProcessedCheck and MarkProcessingStarted."""

from langgraph.runtime import Runtime

from muniment.processing.pipeline.context import RunContext, RunState, artifact_state
from muniment.processing.pipeline.publishing import (
    PROCESSED_STATUSES,
    find_reusable_artifact,
    mark_started,
    pin_artifact,
)
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

FETCH_DOCUMENT_RECORD = "FetchDocumentRecord"


async def fetch_document_record(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """run -> what is to be read, by which content key it is known, and what the document shows already"""
    context, record = runtime.context, runtime.context.record
    known: RunState = {
        "content_key": record.content_key,
        "original": record.original_key,
        "media_type": record.media_type,
        "kb_id": record.kb_id,
    }
    # Copies outside PostgreSQL are this document's own: that another one's passages are known says nothing of them.
    if (
        record.artifact_text_id is None
        or record.processing_status not in PROCESSED_STATUSES
        or context.services.index_copier
    ):
        context.record_step(FETCH_DOCUMENT_RECORD)
        return known
    async with context.transaction(FETCH_DOCUMENT_RECORD) as work:
        wanted = await find_reusable_artifact(work, context.run, context.artifact_key(record.content_key))
        is_shown = wanted is not None and wanted.id == record.artifact_text_id
        if wanted and is_shown and not await context.services.installed_models.list_missing(work, wanted.id):
            await pin_artifact(work, context.run, wanted, is_reused=False)
            known.update(artifact_state(wanted))
    return known


ALREADY_PROCESSED_CHECK = "AlreadyProcessedCheck"


async def already_processed_check(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """document -> does it show already what this run is to make? `force` does not ask."""
    runtime.context.record_step(ALREADY_PROCESSED_CHECK)
    return {"is_processed": "artifact_text_id" in state and not runtime.context.run.force}


def is_processed(state: RunState) -> bool:
    return state["is_processed"]


MARK_PROCESSING_STARTED = "MarkProcessingStarted"


async def mark_processing_started(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """pending -> processing, as soon as somebody really begins"""
    run = runtime.context.run

    async def mark(work: Work[Service]) -> None:
        await mark_started(work, run)

    runtime.context.record_step(MARK_PROCESSING_STARTED, mark)
    return {}
