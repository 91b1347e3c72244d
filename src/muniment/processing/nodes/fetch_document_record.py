from langgraph.runtime import Runtime

from muniment.processing.completion import PROCESSED, attach, find_wanted
from muniment.processing.context import Context, RunState, found

FETCH_DOCUMENT_RECORD = "FetchDocumentRecord"


async def fetch_document_record(state: RunState, runtime: Runtime[Context]) -> RunState:
    """run -> what is to be read, by which content key it is known, and what the document shows already"""
    context, record = runtime.context, runtime.context.record
    known: RunState = {
        "content_key": record.content_key,
        "original": record.original,
        "media_type": record.media_type,
        "kb_id": record.kb_id,
    }
    # Copies outside PostgreSQL are this document's own: that another one's passages are known says nothing of them.
    if record.shown is None or record.processing_status not in PROCESSED or context.tools.copies:
        context.later(FETCH_DOCUMENT_RECORD)
        return known
    async with context.step(FETCH_DOCUMENT_RECORD) as work:
        wanted = await find_wanted(work, context.run, context.artifact_key(record.content_key))
        is_shown = wanted is not None and wanted.id == record.shown
        if wanted and is_shown and not await context.tools.indexing.list_missing(work, wanted.id):
            await attach(work, context.run, wanted, was_known=False)
            known.update(found(wanted))
    return known
