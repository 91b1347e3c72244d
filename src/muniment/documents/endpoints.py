"""Routes of documents: upload, list, search and download."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

import structlog
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from muniment.accounts.repository import OrganizationNotFound, OrganizationRepository, UserRepository
from muniment.accounts.users import require_manager
from muniment.documents.names import clean_name, content_disposition
from muniment.documents.originals import Original
from muniment.documents.quotas import UsageRepository
from muniment.documents.repository import (
    SORTS,
    DocumentFilter,
    DocumentRepository,
    OriginalMissing,
    RevisionRepository,
)
from muniment.documents.schemas import (
    DocumentCreated,
    DocumentCreatedAfterAutoClear,
    DocumentRead,
    DuplicateBody,
    QuotaBody,
    UsageRead,
)
from muniment.documents.tables import Document, DocumentType, Status
from muniment.errors import Invalid
from muniment.http.dependencies import CurrentServices, CurrentWork, KBAccess, Now
from muniment.http.multipart.form import IncomingForm
from muniment.http.multipart.headers import MalformedUpload
from muniment.http.pagination import PaginatedRead, Paging
from muniment.http.streaming import (
    ByteRange,
    RangeNotSatisfiable,
    count_rejected_uploads,
    parse_range,
    prefetch_first_chunk,
    request_chunks,
)
from muniment.knowledge_bases.access import get_access
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.objects.port import ObjectNotFound

log = structlog.get_logger()


router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents", tags=["documents"])


all_documents = APIRouter(prefix="/documents", tags=["documents"])
"""Routes over all knowledge bases that the caller may see, to find a document by its name or id."""


organization_usage = APIRouter(prefix="/organizations/{organization_id}/usage", tags=["people"])
"""Route of what an organization uses of its quotas."""


UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "document_type": {"type": "string", "enum": [str(kind) for kind in DocumentType]},
                    },
                }
            }
        },
    }
}


_FILE = {"*/*": {"schema": {"type": "string", "format": "binary"}}}


DOWNLOAD_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": _FILE, "description": "The file, with its media type"},
    206: {"content": _FILE, "description": "The requested range of the file"},
}


NO_NUL = r"^[^\x00]*$"  # PostgreSQL does not store NUL in text


class UnknownDocumentType(Invalid):
    """Unknown document type"""


@router.post(
    "",
    status_code=201,
    response_model=DocumentCreatedAfterAutoClear | DocumentCreated,
    responses={409: {"model": DuplicateBody}, 429: {"model": QuotaBody}, 507: {"model": QuotaBody}},
    openapi_extra=UPLOAD_BODY,
)
async def upload_document(
    request: Request, access: KBAccess, services: CurrentServices, now: Now
) -> DocumentCreatedAfterAutoClear | DocumentRead:
    """Upload a document: multipart `file`, optional `document_type`. Access is checked before the body is read."""
    access.require_upload()
    access.require_not_being_deleted()
    with count_rejected_uploads():
        room = await services.intake.require_room(access)
        form = IncomingForm(request_chunks(request), request.headers.get("content-type"))
        name = await read_file_name(form)
        async with services.intake.stage(access, name, form.iter_chunks(), now=now, room=room) as staged:
            await form.finish()
            received = await services.intake.receive(access, staged, _document_type(form.fields))
    if received.auto_cleared_id:
        return DocumentCreatedAfterAutoClear.after_auto_clear(received.document, received.auto_cleared_id)
    return DocumentCreated.of(received.document)


async def read_file_name(form: IncomingForm) -> str:
    """Return the name of the file in the form, which is read up to the file's first byte."""
    part = await form.next_file()
    if part is None or part.name != "file":
        raise MalformedUpload("Send the document in the form field `file`")
    return clean_name(part.file_name)


def _document_type(fields: dict[str, str]) -> DocumentType:
    given = fields.get("document_type") or DocumentType.OTHER
    if given not in set(DocumentType):
        raise UnknownDocumentType(f"Unknown document type. Supported: {', '.join(DocumentType)}")
    return DocumentType(given)


@router.get("")
async def list_documents(
    kb_id: UUID,
    work: CurrentWork,
    paging: Paging,
    status: Annotated[
        list[Status] | None, Query(description="Archived documents are listed only when requested")
    ] = None,
    document_type: Annotated[list[DocumentType] | None, Query()] = None,
    search: Annotated[str, Query(max_length=255, pattern=NO_NUL)] = "",
    sort: Annotated[Literal[SORTS], Query()] = "-created_at",  # type: ignore[valid-type]  # the names are data
) -> PaginatedRead[DocumentRead]:
    await get_access(work, kb_id)
    document_filter = DocumentFilter(
        kb_id,
        statuses=status or (),
        search=search,
        document_types=document_type or (),
        sort=sort,
        offset=paging.offset,
        limit=paging.limit,
    )
    found, total = await DocumentRepository(work.session).list_(document_filter)
    items = await _read_all(work, found)
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@all_documents.get("")
async def find_documents(
    work: CurrentWork,
    paging: Paging,
    search: Annotated[str, Query(max_length=255, pattern=NO_NUL, description="In the name")] = "",
    document_id: Annotated[UUID | None, Query(alias="id", description="This document, archived or not")] = None,
) -> PaginatedRead[DocumentRead]:
    """Find documents by name or ID, newest first. Archived documents are found only by ID."""
    document_filter = DocumentFilter(
        None, search=search, document_id=document_id, offset=paging.offset, limit=paging.limit
    )
    found, total = await DocumentRepository(work.session).list_(document_filter)
    items = await _read_all(work, found)
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@router.get("/{doc_id}")
async def get_document(kb_id: UUID, doc_id: UUID, work: CurrentWork) -> DocumentRead:
    document = await DocumentRepository(work.session).get(kb_id, doc_id)
    (item,) = await _read_all(work, [document])
    return item


async def _read_all(work: Work[Principal], found: Sequence[Document]) -> list[DocumentRead]:
    """Return the bodies of documents, with what other rows say about them."""
    emails = await UserRepository(work.session).emails_of({document.uploaded_by for document in found})
    failed = await RevisionRepository(work.session).list_failed([document.id for document in found])
    return [DocumentRead.of(document, emails.get(document.uploaded_by), failed.get(document.id)) for document in found]


@router.get("/{doc_id}/download", response_class=Response, responses=DOWNLOAD_RESPONSES)
async def download_document(
    kb_id: UUID, doc_id: UUID, request: Request, access: KBAccess, services: CurrentServices
) -> Response:
    """Download the original file. Supports `Range`. The transfer of a damaged file is aborted."""
    async with services.database.work(access.principal) as work:
        document = await DocumentRepository(work.session).get(kb_id, doc_id)
    headers = _download_headers(document)
    range_header = request.headers.get("range")
    if request.headers.get("if-range") not in (None, headers["ETag"]):
        range_header = None
    try:
        requested = parse_range(range_header, document.file_size)
    except RangeNotSatisfiable:
        return _not_satisfiable(document)
    span = requested or ByteRange(0, document.file_size)
    headers["Content-Length"] = str(span.end - span.start)
    if requested:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{document.file_size}"
    is_whole = span == ByteRange(0, document.file_size)
    chunks = (
        Original.of(services.objects, document).iter_chunks()
        if is_whole
        else services.objects.read(document.original_uri, start=span.start, end=span.end)
    )
    try:
        pieces = await prefetch_first_chunk(chunks)
    except ObjectNotFound:
        log.error("documents.original_missing", document_id=str(document.id), key=document.original_uri)
        raise OriginalMissing from None
    return StreamingResponse(pieces, status_code=206 if requested else 200, headers=headers)


@organization_usage.get("")
async def get_organization_usage(organization_id: UUID, work: CurrentWork, services: CurrentServices) -> UsageRead:
    """Return what an organization uses of its quotas. For its admins, and for operators."""
    require_manager(work.caller)
    await OrganizationRepository(work.session).get(organization_id)
    usage = UsageRepository(work.session)
    storage, queued_runs = await usage.find_storage(organization_id), await usage.count_queued_runs(organization_id)
    if storage is None or queued_runs is None:
        raise OrganizationNotFound
    return UsageRead.of(storage, queued_runs, services.engine.quotas)


def _not_satisfiable(document: Document) -> Response:
    body = {"detail": f"The range is outside the file, which has {document.file_size} bytes"}
    return JSONResponse(body, status_code=416, headers={"Content-Range": f"bytes */{document.file_size}"})


def _download_headers(document: Document) -> dict[str, str]:
    return {
        # Set here and not as `media_type`, which would add a charset that is not known.
        "Content-Type": document.media_type,
        "Content-Disposition": content_disposition(document.name),
        "X-Content-Type-Options": "nosniff",
        "Accept-Ranges": "bytes",
        "ETag": f'"{document.id}-{document.revision}"',
        "Cache-Control": "private, no-cache",
    }
