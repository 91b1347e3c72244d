"""Public API of the hand-over, and the operators' view of the queue and the dead letters."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request

from muniment.accounts.repository import OrganizationNotFound
from muniment.accounts.users import require_operator
from muniment.documents.names import InvalidName, clean_name
from muniment.documents.tables import DocumentType
from muniment.handover.content import SpooledUpload
from muniment.handover.job_key import JobKey
from muniment.handover.queue_listing import NO_REASON, DeadLetterNotFound, list_page
from muniment.handover.schemas import (
    HandoverForm,
    HandoverStatusRead,
    QueueEntryRead,
    QueueWriteFailedBody,
    RequeuedRead,
    SubmissionRead,
    parse_form,
)
from muniment.handover.status import get_handover_status
from muniment.handover.submission import HandoverRequest
from muniment.handover.tables import Priority
from muniment.http.dependencies import CurrentPrincipal, CurrentServices
from muniment.http.multipart.form import IncomingForm
from muniment.http.multipart.headers import MalformedUpload
from muniment.http.pagination import PaginatedRead, Paging
from muniment.http.streaming import request_chunks
from muniment.storage.db.principal import Actor
from muniment.storage.objects.port import VersionedObjectStore

organization_router = APIRouter(prefix="/organizations/{organization_id}/archive", tags=["archive"])


document_router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}/hand-over", tags=["archive"])


_TEXT_FIELD = {"type": "string"}


SUBMISSION_FORM = {
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
                        "metadata": {**_TEXT_FIELD, "description": 'JSON: {"invoiceNumber": …, "contractId": …}'},
                        "sha256": {
                            **_TEXT_FIELD,
                            "description": "SHA-256 of the file. Returns 422 if it does not match",
                        },
                        "priority": {"type": "string", "enum": [str(one) for one in Priority]},
                    },
                }
            }
        },
    }
}


QUEUE_FAILURE_RESPONSES: dict[int | str, dict[str, Any]] = {503: {"model": QueueWriteFailedBody}}


@organization_router.post("", status_code=202, openapi_extra=SUBMISSION_FORM, responses=QUEUE_FAILURE_RESPONSES)
async def hand_over(
    organization_id: UUID, request: Request, principal: CurrentPrincipal, services: CurrentServices
) -> SubmissionRead:
    """Queue a PDF for Paperless. Repeating the call changes nothing, and the call does not wait for Paperless.

    If `document_id` is a document in Muniment, only its owner or an admin may name it.
    """
    if organization_id != principal.organization_id:
        raise OrganizationNotFound
    form = IncomingForm(request_chunks(request), request.headers.get("content-type"))
    part = await form.next_file()
    if part is None or part.name != "file":
        raise MalformedUpload("Send the document in the form field `file`")
    with SpooledUpload(max_bytes=services.handover.max_bytes) as upload:
        await upload.receive(form.iter_chunks())
        await form.finish()
        fields = parse_form(form.fields)
        if fields.sha256:
            upload.verify_sha256(fields.sha256)
        submitted = _build_request(organization_id, fields, upload, part.file_name)
        submission = await services.handover.documents.submit_for(principal, submitted, priority=fields.priority)
        return SubmissionRead.from_submission(submission)


def _build_request(organization_id: UUID, form: HandoverForm, upload: SpooledUpload, file_name: str) -> HandoverRequest:
    return HandoverRequest(
        organization_id,
        form.document_id,
        form.document_type,
        upload,
        upload.sha256,
        form.metadata,
        _usable_name(file_name),
    )


def _usable_name(file_name: str) -> str | None:
    """Return the file name for people. An invalid one is left out: other applications send what they like."""
    try:
        return clean_name(file_name)
    except InvalidName:
        return None


@organization_router.get("/{document_id}")
async def get_hand_over(
    organization_id: UUID, document_id: UUID, principal: CurrentPrincipal, services: CurrentServices
) -> HandoverStatusRead:
    """Return status, attempts, Paperless address and history of a document that was handed over. `document_id` is the
    one that was submitted, or that of a document in Muniment."""
    if organization_id != principal.organization_id:
        raise OrganizationNotFound
    return HandoverStatusRead.of(await get_handover_status(services.database, principal, document_id))


@document_router.post("", status_code=202, responses=QUEUE_FAILURE_RESPONSES)
async def hand_over_document(
    kb_id: UUID, doc_id: UUID, principal: CurrentPrincipal, services: CurrentServices
) -> SubmissionRead:
    """Queue a completed or archived PDF for Paperless, as its owner or an admin. If the queue fails (503), it is
    retried automatically."""
    return SubmissionRead.from_submission(await services.handover.documents.request(principal, kb_id, doc_id))


operator_router = APIRouter(prefix="/archive", tags=["archive"])


@operator_router.get("/queue")
async def list_queue(
    services: CurrentServices, principal: CurrentPrincipal, paging: Paging
) -> PaginatedRead[QueueEntryRead]:
    """List the Paperless queue of all organizations. Operators only."""
    require_operator(principal)
    return await _list_page(services.handover.dead_letters.stores.queue, paging)


@operator_router.get("/dead-letters")
async def list_dead_letters(
    services: CurrentServices, principal: CurrentPrincipal, paging: Paging
) -> PaginatedRead[QueueEntryRead]:
    """List dead letters for operators. Requeue them when the cause is fixed, or discard them."""
    require_operator(principal)
    return await _list_page(services.handover.dead_letters.stores.dead_letters, paging, default_reason=NO_REASON)


async def _list_page(
    store: VersionedObjectStore, paging: Paging, default_reason: str | None = None
) -> PaginatedRead[QueueEntryRead]:
    found, total = await list_page(store, offset=paging.offset, limit=paging.limit)
    items = [QueueEntryRead.from_details(job, default_reason) for job in found]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@operator_router.post("/dead-letters/{key:path}/requeue")
async def requeue_dead_letter(key: str, services: CurrentServices, principal: CurrentPrincipal) -> RequeuedRead:
    """Put a dead letter back into the queue and reset its attempts."""
    require_operator(principal)
    job = parse_job_key(key)
    await services.handover.dead_letters.requeue(job, Actor.from_principal(principal))
    return RequeuedRead(job_id=job.pdf)


@operator_router.delete("/dead-letters/{key:path}", status_code=204)
async def discard_dead_letter(key: str, services: CurrentServices, principal: CurrentPrincipal) -> None:
    """Permanently delete a dead letter. The original file in Muniment is kept."""
    require_operator(principal)
    await services.handover.dead_letters.discard(parse_job_key(key), Actor.from_principal(principal))


def parse_job_key(key: str) -> JobKey:
    job = JobKey.parse(key)
    if job is None:
        raise DeadLetterNotFound
    return job
