"""Public API of the hand-over, and the operators' view of the queue and the dead letters."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request

from muniment.accounts.users import require_operator
from muniment.documents.tables import DocumentType
from muniment.handover.content import Incoming
from muniment.handover.dead_letters import DeadLetterNotFound
from muniment.handover.job_key import JobKey
from muniment.handover.queue_listing import list_page
from muniment.handover.repository import OrganizationUnknown
from muniment.handover.schemas import (
    ArchiveJobRead,
    Described,
    HandedOverRead,
    QueueFailureBody,
    RequeuedRead,
    read_fields,
)
from muniment.handover.submission import ArchiveOptions, SourceDoc
from muniment.handover.tables import Priority
from muniment.http.dependencies import CurrentParts, CurrentPrincipal
from muniment.http.multipart.form import IncomingForm
from muniment.http.multipart.headers import MalformedUpload
from muniment.http.pagination import Page, Paging
from muniment.http.streaming import request_chunks
from muniment.storage.db.principal import Asker
from muniment.storage.objects.port import QueueStore

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
        raise MalformedUpload("Send the document in the form field `file`")
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


operator_router = APIRouter(prefix="/archive", tags=["archive"])


@operator_router.get("/queue")
async def list_queue(parts: CurrentParts, principal: CurrentPrincipal, paging: Paging) -> Page[ArchiveJobRead]:
    """What waits for the archiver, of all organizations, for operators."""
    require_operator(principal)
    return await _page(parts.archive.letters.stores.queue, paging)


@operator_router.get("/dead-letters")
async def list_dead_letters(parts: CurrentParts, principal: CurrentPrincipal, paging: Paging) -> Page[ArchiveJobRead]:
    """What could not be archived, for operators: requeue it when its cause is gone, or discard it."""
    require_operator(principal)
    return await _page(parts.archive.letters.stores.dead_letters, paging)


async def _page(store: QueueStore, paging: Paging) -> Page[ArchiveJobRead]:
    found, total = await list_page(store, offset=paging.offset, limit=paging.limit)
    items = [ArchiveJobRead.of(job) for job in found]
    return Page(items=items, total=total, page=paging.page, limit=paging.limit)


@operator_router.post("/dead-letters/{key:path}/requeue")
async def requeue_dead_letter(key: str, parts: CurrentParts, principal: CurrentPrincipal) -> RequeuedRead:
    """Put it back into the queue, with its count reset."""
    require_operator(principal)
    job = parse_key(key)
    await parts.archive.letters.requeue(job, Asker.of(principal))
    return RequeuedRead(job_id=job.pdf)


@operator_router.delete("/dead-letters/{key:path}", status_code=204)
async def discard_dead_letter(key: str, parts: CurrentParts, principal: CurrentPrincipal) -> None:
    """Delete it for good. If Muniment holds its original, that stays."""
    require_operator(principal)
    await parts.archive.letters.discard(parse_key(key), Asker.of(principal))


def parse_key(key: str) -> JobKey:
    job = JobKey.parse(key)
    if job is None:
        raise DeadLetterNotFound
    return job
