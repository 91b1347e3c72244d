from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response

from muniment.http.dependencies import CurrentParts, CurrentPrincipal
from muniment.knowledge_bases import service as knowledge_bases
from muniment.lifecycle.removal.bulk import bulk_purge
from muniment.lifecycle.removal.knowledge_base import KnowledgeBaseRemoval
from muniment.lifecycle.removal.schemas import (
    BeingRemovedRead,
    BulkPurgedRead,
    KnowledgeBaseRemovedRead,
    RemovedRead,
    ended_read,
)
from muniment.lifecycle.schemas import SeveralDocuments

purge_router = APIRouter(prefix="/knowledge-bases/{kb_id}", tags=["lifecycle"])

PURGED, BEING_PURGED = "Document permanently deleted", "Document removed; its last traces are being deleted"
CLEARED, BEING_CLEARED = "Failed document cleared", "Failed document removed; its last traces are being deleted"
UNPROVEN: dict[int | str, dict[str, Any]] = {
    202: {"model": BeingRemovedRead, "description": "Gone and found by nobody; not all stores seen empty yet"}
}


@purge_router.delete("/documents/{doc_id}/purge", responses=UNPROVEN, response_model=RemovedRead | BeingRemovedRead)
async def purge_document(
    kb_id: UUID,
    doc_id: UUID,
    parts: CurrentParts,
    principal: CurrentPrincipal,
    response: Response,
    cancel_hand_over: Annotated[bool, Query(description="Even while it waits to be handed over")] = False,
) -> RemovedRead | BeingRemovedRead:
    """Destroy an archived document in every store, with a receipt. The same again gives the same answer."""
    ended = await parts.removal.purge(principal, kb_id, doc_id, cancel_hand_over=cancel_hand_over)
    response.status_code = 202 if ended.pending else 200
    return ended_read(ended, PURGED, BEING_PURGED)


@purge_router.delete("/documents/{doc_id}/clear", responses=UNPROVEN, response_model=RemovedRead | BeingRemovedRead)
async def clear_document(
    kb_id: UUID, doc_id: UUID, parts: CurrentParts, principal: CurrentPrincipal, response: Response
) -> RemovedRead | BeingRemovedRead:
    """Destroy a failed document with whatever its processing left, with a receipt. What is missing is no error."""
    ended = await parts.removal.clear(principal, kb_id, doc_id)
    response.status_code = 202 if ended.pending else 200
    return ended_read(ended, CLEARED, BEING_CLEARED)


@purge_router.post("/documents/bulk-purge")
async def purge_documents(
    kb_id: UUID, wanted: SeveralDocuments, parts: CurrentParts, principal: CurrentPrincipal
) -> BulkPurgedRead:
    """Up to a hundred, each on its own, ten calls a minute. What is not archived or not there is skipped and listed."""
    return BulkPurgedRead.of(await bulk_purge(parts.removal, principal, kb_id, wanted.document_ids))


@purge_router.delete(
    "",
    response_model=None,
    responses={
        200: {"model": KnowledgeBaseRemovedRead, "description": "Gone with all its documents (`purge=true`)"},
        202: {"model": KnowledgeBaseRemovedRead, "description": "Not done yet: ask again to go on (`purge=true`)"},
        204: {"description": "It was empty, and is gone"},
    },
)
async def delete_knowledge_base(
    kb_id: UUID,
    parts: CurrentParts,
    principal: CurrentPrincipal,
    response: Response,
    purge: Annotated[bool, Query(description="With all its documents, each of which leaves a receipt")] = False,
) -> KnowledgeBaseRemovedRead | Response:
    """Without `purge` refused with 409 while it holds any document, archived and failed ones included."""
    if not purge:
        async with parts.database.work(principal) as work:
            await knowledge_bases.delete(work, kb_id)
        await parts.mover.index.forget_kb(kb_id)
        return Response(status_code=204)
    leaving = await KnowledgeBaseRemoval(parts.removal).remove(principal, kb_id)
    response.status_code = 200 if leaving.is_gone else 202
    return KnowledgeBaseRemovedRead.of(leaving)
