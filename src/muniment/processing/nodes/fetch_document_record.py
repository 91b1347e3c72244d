from langgraph.runtime import Runtime
from sqlalchemy import select

from muniment.documents.tables import Document
from muniment.processing.completion import PROCESSED, attach, find_wanted
from muniment.processing.context import Context, RunState

NAME = "FetchDocumentRecord"


async def fetch_document_record(state: RunState, runtime: Runtime[Context]) -> RunState:
    """run -> what is to be read, by which content key it is known, and what the document shows already"""
    context = runtime.context
    columns = (
        Document.content_hmac,
        Document.original_uri,
        Document.media_type,
        Document.kb_id,
        Document.artifact_text_id,
        Document.processing_status,
    )
    async with context.step(NAME) as work:
        of_run = select(*columns).where(Document.id == context.run.document_id)
        content_key, original, media_type, kb_id, shown, status = (await work.session.execute(of_run)).one()
        found: RunState = {"content_key": content_key, "original": original, "media_type": media_type, "kb_id": kb_id}
        if shown is not None and status in PROCESSED:
            wanted = await find_wanted(work, context.run, context.artifact_key(content_key))
            is_shown = wanted is not None and wanted.id == shown
            if wanted and is_shown and not await context.tools.indexing.list_missing(work, wanted.id):
                await attach(work, context.run, wanted, was_known=False)
                found["artifact_text_id"] = wanted.id
    return found
