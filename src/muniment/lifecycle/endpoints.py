"""Routes of all lifecycle moves."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from muniment.accounts.schemas import SearchText
from muniment.documents.schemas import DocumentRead, DuplicateBody, QuotaBody
from muniment.documents.uploads.endpoints import read_file_name
from muniment.http.dependencies import CurrentPrincipal, CurrentServices, CurrentWork, Now
from muniment.http.multipart.form import IncomingForm
from muniment.http.pagination import PaginatedRead, Paging
from muniment.http.streaming import count_rejected_uploads, request_chunks
from muniment.knowledge_bases import service as knowledge_bases
from muniment.lifecycle.archived_documents import SORTS, ArchivedFilter, ArchivedRepository
from muniment.lifecycle.bulk import bulk_archive, bulk_purge
from muniment.lifecycle.engine import Target
from muniment.lifecycle.explain import explain
from muniment.lifecycle.knowledge_base_purge import KnowledgeBasePurge
from muniment.lifecycle.moves.archive import Archive
from muniment.lifecycle.moves.cancel import Cancel
from muniment.lifecycle.moves.clear import Clear
from muniment.lifecycle.moves.failed_replacement import DiscardReplacement, RetryReplacement
from muniment.lifecycle.moves.purge import Purge, run_purge
from muniment.lifecycle.moves.replace import open_replacement
from muniment.lifecycle.moves.restore import Restore
from muniment.lifecycle.moves.retry import Retry
from muniment.lifecycle.moves.revert import Revert
from muniment.lifecycle.schemas import (
    ArchivedRead,
    BulkArchivedRead,
    BulkPurgedRead,
    BulkRequest,
    DateOrTime,
    DocumentStatusRead,
    ExplanationRead,
    KnowledgeBasePurgeRead,
    MessageRead,
    PurgedRead,
    PurgePendingRead,
    ReplacedRead,
    RetryRequest,
    purge_result_read,
    range_end,
    range_start,
)
from muniment.storage.tasks.port import RunRequest

router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}", tags=["lifecycle"])


bulk_router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents", tags=["lifecycle"])


archived_router = APIRouter(prefix="/documents/archived", tags=["lifecycle"])


@router.post("/archive")
async def archive_document(
    kb_id: UUID, doc_id: UUID, services: CurrentServices, principal: CurrentPrincipal
) -> DocumentStatusRead:
    """Archive a completed document, which removes it from search. Only for the owner and admins."""
    return DocumentStatusRead.of(await services.engine.run(Archive(), Target(principal, kb_id, doc_id)))


@router.post("/restore")
async def restore_document(
    kb_id: UUID, doc_id: UUID, services: CurrentServices, principal: CurrentPrincipal
) -> DocumentStatusRead:
    """Restore an archived document. Returns 409 while an active document has its name."""
    return DocumentStatusRead.of(await services.engine.run(Restore(), Target(principal, kb_id, doc_id)))


@router.post("/cancel")
async def cancel_document(
    kb_id: UUID, doc_id: UUID, services: CurrentServices, principal: CurrentPrincipal
) -> MessageRead:
    """Cancel processing of a document. It becomes `failed` and can be retried or cleared."""
    await services.engine.run(Cancel(), Target(principal, kb_id, doc_id))
    return MessageRead(message="Document processing cancelled")


@bulk_router.post("/bulk-archive")
async def archive_documents(
    kb_id: UUID, body: BulkRequest, services: CurrentServices, principal: CurrentPrincipal
) -> BulkArchivedRead:
    """Archive up to 100 documents. Documents that are not completed are skipped and listed."""
    return BulkArchivedRead.of(await bulk_archive(services.engine, principal, kb_id, body.document_ids))


@archived_router.get("")
async def list_archived(
    work: CurrentWork,
    paging: Paging,
    kb_id: UUID | None = None,
    search: SearchText = "",
    archived_from: Annotated[DateOrTime | None, Query(description="A time, or a day in UTC (from its start)")] = None,
    archived_to: Annotated[DateOrTime | None, Query(description="A time, or a day in UTC (until its end)")] = None,
    sort: Annotated[Literal[SORTS], Query()] = "-archived_at",  # type: ignore[valid-type]  # the names are data
) -> PaginatedRead[ArchivedRead]:
    """List archived documents of the knowledge bases you own. Admins see the whole organization."""
    archived_filter = ArchivedFilter(
        kb_id,
        search=search,
        since=range_start(archived_from),
        before=range_end(archived_to),
        sort=sort,
        offset=paging.offset,
        limit=paging.limit,
    )
    found, total = await ArchivedRepository(work.session).list_(work.caller, archived_filter)
    items = [ArchivedRead.of(document, kb_name) for document, kb_name in found]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@router.get("/explain")
async def explain_document(
    kb_id: UUID, doc_id: UUID, services: CurrentServices, principal: CurrentPrincipal
) -> ExplanationRead:
    """Explain the status of a document, which moves are possible, and who can make them."""
    return ExplanationRead.of(await explain(services.engine, principal, kb_id, doc_id))


@router.post("/retry", responses={409: {"model": DuplicateBody}, 429: {"model": QuotaBody}})
async def retry_document(
    kb_id: UUID,
    doc_id: UUID,
    services: CurrentServices,
    principal: CurrentPrincipal,
    options: RetryRequest | None = None,
) -> DocumentRead:
    """Retry a failed document or reprocess a completed one. Previous results stay available until it is done."""
    options = options or RetryRequest()
    run = RunRequest(force=options.force, algorithm_version=options.algorithm_version)
    retried = await services.engine.run(Retry(run), Target(principal, kb_id, doc_id))
    return DocumentRead.of(retried.document, failed_replacement=retried.failed_replacement)


purge_router = APIRouter(prefix="/knowledge-bases/{kb_id}", tags=["lifecycle"])


PURGED, PURGE_PENDING = "Document permanently deleted", "Document deleted. Remaining data is being removed"


CLEARED, CLEAR_PENDING = "Failed document cleared", "Failed document deleted. Remaining data is being removed"


PENDING_RESPONSE: dict[int | str, dict[str, Any]] = {
    202: {
        "model": PurgePendingRead,
        "description": "Deleted and no longer accessible. Not all stores are verified as empty yet",
    }
}


@purge_router.delete(
    "/documents/{doc_id}/purge", responses=PENDING_RESPONSE, response_model=PurgePendingRead | PurgedRead
)
async def purge_document(
    kb_id: UUID,
    doc_id: UUID,
    services: CurrentServices,
    principal: CurrentPrincipal,
    response: Response,
    cancel_hand_over: Annotated[
        bool, Query(description="Purge the document even if it is queued for Paperless")
    ] = False,
) -> PurgedRead | PurgePendingRead:
    """Permanently delete an archived document from every store, with a receipt. Repeating the call is safe."""
    move = Purge(cancel_hand_over=cancel_hand_over)
    result = await run_purge(services.engine, move, Target(principal, kb_id, doc_id))
    response.status_code = 202 if result.pending else 200
    return purge_result_read(result, PURGED, PURGE_PENDING)


@purge_router.delete(
    "/documents/{doc_id}/clear", responses=PENDING_RESPONSE, response_model=PurgePendingRead | PurgedRead
)
async def clear_document(
    kb_id: UUID, doc_id: UUID, services: CurrentServices, principal: CurrentPrincipal, response: Response
) -> PurgedRead | PurgePendingRead:
    """Permanently delete a failed document and its partial data, with a receipt. Missing data is not an error."""
    result = await run_purge(services.engine, Clear(), Target(principal, kb_id, doc_id))
    response.status_code = 202 if result.pending else 200
    return purge_result_read(result, CLEARED, CLEAR_PENDING)


@purge_router.post("/documents/bulk-purge")
async def purge_documents(
    kb_id: UUID, body: BulkRequest, services: CurrentServices, principal: CurrentPrincipal
) -> BulkPurgedRead:
    """Purge up to 100 documents, 10 calls per minute. Documents that are not archived are skipped and listed."""
    return BulkPurgedRead.of(await bulk_purge(services.engine, principal, kb_id, body.document_ids))


@purge_router.delete(
    "",
    response_model=None,
    responses={
        200: {"model": KnowledgeBasePurgeRead, "description": "Deleted with all its documents (`purge=true`)"},
        202: {
            "model": KnowledgeBasePurgeRead,
            "description": "Not finished. Repeat the request to continue (`purge=true`)",
        },
        204: {"description": "The empty knowledge base was deleted"},
    },
)
async def delete_knowledge_base(
    kb_id: UUID,
    services: CurrentServices,
    principal: CurrentPrincipal,
    response: Response,
    purge: Annotated[bool, Query(description="Delete all its documents too, each with a receipt")] = False,
) -> KnowledgeBasePurgeRead | Response:
    """Delete a knowledge base. Without `purge`, returns 409 if it has documents, including archived and failed ones."""
    if not purge:
        async with services.database.work(principal) as work:
            await knowledge_bases.delete(work, kb_id)
        await services.engine.index.delete_collection(kb_id)
        return Response(status_code=204)
    progress = await KnowledgeBasePurge(services.engine).run(principal, kb_id)
    response.status_code = 200 if progress.is_complete else 202
    return KnowledgeBasePurgeRead.of(progress)


replace_router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}/replace", tags=["lifecycle"])


FILE_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


@replace_router.post(
    "",
    responses={409: {"model": DuplicateBody}, 429: {"model": QuotaBody}, 507: {"model": QuotaBody}},
    openapi_extra=FILE_BODY,
)
async def replace_document(
    kb_id: UUID, doc_id: UUID, request: Request, services: CurrentServices, principal: CurrentPrincipal, now: Now
) -> ReplacedRead:
    """Replace content and name of a document with the multipart `file`. The document keeps its ID."""
    target = Target(principal, kb_id, doc_id)
    async with open_replacement(services.engine, services.staging, target) as replacement:
        with count_rejected_uploads():
            room = await replacement.require_room()
            form = IncomingForm(request_chunks(request), request.headers.get("content-type"))
            name = await read_file_name(form)
            async with replacement.stage(name, form.iter_chunks(), now=now, room=room) as staged:
                await form.finish()
                return ReplacedRead.of(await replacement.receive(staged))


@replace_router.post("/revert", responses={409: {"model": DuplicateBody}})
async def revert_document(
    kb_id: UUID, doc_id: UUID, services: CurrentServices, principal: CurrentPrincipal
) -> DocumentRead:
    """Revert a failed replacement to the previous version with its name, status and annotations."""
    reverted = await services.engine.run(Revert(), Target(principal, kb_id, doc_id))
    return DocumentRead.of(reverted.document)


@replace_router.post("/retry", responses={409: {"model": DuplicateBody}, 429: {"model": QuotaBody}})
async def retry_replacement(
    kb_id: UUID, doc_id: UUID, services: CurrentServices, principal: CurrentPrincipal
) -> DocumentRead:
    """Replace the document again with the file that could not be read."""
    replaced = await services.engine.run(RetryReplacement(), Target(principal, kb_id, doc_id))
    return DocumentRead.of(replaced.document)


@replace_router.delete("/failed")
async def discard_replacement(
    kb_id: UUID, doc_id: UUID, services: CurrentServices, principal: CurrentPrincipal
) -> MessageRead:
    """Delete the file that could not be read. The document stays as it is."""
    await services.engine.run(DiscardReplacement(), Target(principal, kb_id, doc_id))
    return MessageRead(message="Failed replacement deleted")
