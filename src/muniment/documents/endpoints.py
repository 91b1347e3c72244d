"""Routes of documents: list, search and download. `documents/uploads` has the upload."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

import structlog
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from muniment.accounts.repository import OrganizationNotFound, OrganizationRepository, UserRepository
from muniment.accounts.users import require_manager
from muniment.documents.names import content_disposition
from muniment.documents.originals import Original
from muniment.documents.quotas import UsageRepository
from muniment.documents.repository import (
    NO_PASSAGES,
    SORTS,
    DocumentFilter,
    DocumentRepository,
    OriginalMissing,
    PassageCountRepository,
    RevisionRepository,
)
from muniment.documents.schemas import (
    DocumentRead,
    UsageRead,
)
from muniment.documents.tables import Document, DocumentType, Status
from muniment.http.dependencies import CurrentServices, CurrentWork, KBAccess
from muniment.http.pagination import PaginatedRead, Paging
from muniment.http.streaming import (
    ByteRange,
    RangeNotSatisfiable,
    parse_range,
    prefetch_first_chunk,
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


_FILE = {"*/*": {"schema": {"type": "string", "format": "binary"}}}


DOWNLOAD_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": _FILE, "description": "The file, with its media type"},
    206: {"content": _FILE, "description": "The requested range of the file"},
}


NO_NUL = r"^[^\x00]*$"  # PostgreSQL does not store NUL in text


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
    ids = [document.id for document in found]
    failed = await RevisionRepository(work.session).list_failed(ids)
    counts = await PassageCountRepository(work.session).list_(ids)
    bodies = [
        DocumentRead.of(document, emails.get(document.uploaded_by), failed.get(document.id)) for document in found
    ]
    return [body.with_passages(counts.get(body.id, NO_PASSAGES)) for body in bodies]


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
