from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request

from muniment.archival.asker import Asker
from muniment.archival.content import Incoming
from muniment.archival.form import Described, read_fields
from muniment.archival.hand_over import ArchiveOptions, SourceDoc
from muniment.archival.repository import OrganizationUnknown
from muniment.archival.schemas import HandedOverRead, QueueFailureBody
from muniment.archival.tables import Priority
from muniment.documents.tables import DocumentType
from muniment.http.dependencies import CurrentParts, CurrentPrincipal
from muniment.http.multipart import IncomingForm, MalformedUpload
from muniment.http.streams import request_chunks

organization_router = APIRouter(prefix="/organizations/{organization_id}/archive", tags=["archive"])
document_router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}/hand-over", tags=["archive"])

TEXT = {"type": "string"}
HAND_OVER_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "document_type", "document_id"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "document_type": {"type": "string", "enum": [str(kind) for kind in DocumentType]},
                        "document_id": {"type": "string", "format": "uuid"},
                        "metadata": {**TEXT, "description": 'JSON: {"invoiceNumber": …, "contractId": …}'},
                        "sha256": {**TEXT, "description": "Of the file; refused with 422 when it differs"},
                        "priority": {"type": "string", "enum": [str(one) for one in Priority]},
                    },
                }
            }
        },
    }
}
FAILURE: dict[int | str, dict[str, Any]] = {503: {"model": QueueFailureBody}}


@organization_router.post("", status_code=202, openapi_extra=HAND_OVER_BODY, responses=FAILURE)
async def hand_over(
    organization_id: UUID, request: Request, principal: CurrentPrincipal, parts: CurrentParts
) -> HandedOverRead:
    """Hand a PDF over to the archive and forget it. The same again changes nothing; what the archive does, or whether
    it is there at all, is nothing that this call waits for."""
    if organization_id != principal.organization_id:
        raise OrganizationUnknown
    form = IncomingForm(request_chunks(request), request.headers.get("content-type"))
    part = await form.next_file()
    if part is None or part.name != "file":
        raise MalformedUpload("Send the document as the form field `file`")
    with Incoming(max_bytes=parts.archive.max_bytes) as incoming:
        await incoming.receive(form.chunks())
        await form.rest()
        described = read_fields(form.fields)
        if described.sha256:
            incoming.require(described.sha256)
        source = _source(organization_id, described, incoming)
        options = ArchiveOptions(described.priority)
        return HandedOverRead.of(await parts.archive.hand_over.archive(source, options, asker=Asker.of(principal)))


def _source(organization_id: UUID, described: Described, incoming: Incoming) -> SourceDoc:
    return SourceDoc(
        organization_id,
        described.document_id,
        described.document_type,
        incoming,
        incoming.sha256,
        described.metadata,
    )


@document_router.post("", status_code=202, responses=FAILURE)
async def hand_over_document(
    kb_id: UUID, doc_id: UUID, principal: CurrentPrincipal, parts: CurrentParts
) -> HandedOverRead:
    """Hand a completed or archived PDF over to the archive, by its owner or an admin. If the queue fails (503), it is
    tried again without you."""
    return HandedOverRead.of(await parts.archive.own.ask(principal, kb_id, doc_id))
