from uuid import UUID

from fastapi import APIRouter, Request

from muniment.documents.endpoints import next_name
from muniment.documents.schemas import DocumentRead, DuplicateBody
from muniment.http.dependencies import CurrentParts, CurrentPrincipal, Now
from muniment.http.multipart import IncomingForm
from muniment.http.streams import counted_refusals, request_chunks
from muniment.lifecycle.replacing.schemas import ReplacedRead

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


@replace_router.post("", responses={409: {"model": DuplicateBody}}, openapi_extra=FILE_BODY)
async def replace_document(
    kb_id: UUID, doc_id: UUID, request: Request, parts: CurrentParts, principal: CurrentPrincipal, now: Now
) -> ReplacedRead:
    """Multipart `file`, which takes the place of the document's content and name. It stays the same document."""
    place = await parts.replacing.find_place(principal, kb_id, doc_id)
    with counted_refusals():
        form = IncomingForm(request_chunks(request), request.headers.get("content-type"))
        name = await next_name(form)
        async with parts.replacing.stage(place, name, form.chunks(), now=now) as staged:
            await form.rest()
            return ReplacedRead.of(await parts.replacing.receive(place, staged))


@replace_router.post("/revert", responses={409: {"model": DuplicateBody}})
async def revert_document(kb_id: UUID, doc_id: UUID, parts: CurrentParts, principal: CurrentPrincipal) -> DocumentRead:
    """The last revision that could be read, with its name, status and annotations, instead of one that failed."""
    return DocumentRead.of(await parts.replacing.revert(principal, kb_id, doc_id))
