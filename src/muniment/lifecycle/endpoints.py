from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query

from muniment.accounts.schemas import SearchText
from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.variants import ALGORITHM_VERSION
from muniment.documents.repository import DocumentRepository
from muniment.documents.schemas import DocumentRead, DuplicateBody
from muniment.http.dependencies import CurrentParts, CurrentPrincipal, CurrentWork
from muniment.http.pagination import Page, Paging
from muniment.http.parts import Parts
from muniment.lifecycle.archive import archive
from muniment.lifecycle.archived_list import SORTS, ArchivedRepository, WantedArchived
from muniment.lifecycle.bulk_archive import bulk_archive
from muniment.lifecycle.cancel import cancel
from muniment.lifecycle.explain.schemas import ExplanationRead
from muniment.lifecycle.explain.service import explain
from muniment.lifecycle.measured import measured, moved
from muniment.lifecycle.permission import require_member
from muniment.lifecycle.restore import restore
from muniment.lifecycle.retry import VersionUnknown, retry
from muniment.lifecycle.rules import Move
from muniment.lifecycle.schemas import (
    ArchivedRead,
    BulkArchivedRead,
    MessageRead,
    Moment,
    MovedRead,
    RetryWish,
    SeveralDocuments,
    beginning_of,
    end_of,
)
from muniment.storage.db.principal import Principal, Service
from muniment.storage.tasks.port import RunWish

router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}", tags=["lifecycle"])
bulk = APIRouter(prefix="/knowledge-bases/{kb_id}/documents", tags=["lifecycle"])
archived = APIRouter(prefix="/documents/archived", tags=["lifecycle"])


@router.post("/archive")
async def archive_document(kb_id: UUID, doc_id: UUID, parts: CurrentParts, principal: CurrentPrincipal) -> MovedRead:
    """Take a completed document out of the search; it can be restored. By its owner or an admin, as all moves."""
    return MovedRead.of(await archive(parts.mover, principal, kb_id, doc_id))


@router.post("/restore")
async def restore_document(kb_id: UUID, doc_id: UUID, parts: CurrentParts, principal: CurrentPrincipal) -> MovedRead:
    """Bring an archived document back; 409 while an active one has its name."""
    return MovedRead.of(await restore(parts.mover, principal, kb_id, doc_id))


@router.post("/cancel")
async def cancel_document(kb_id: UUID, doc_id: UUID, parts: CurrentParts, principal: CurrentPrincipal) -> MessageRead:
    """Stop the reading of a document, for good: it is `failed`, and can be retried or cleared."""
    await cancel(parts.database, parts.tasks, principal, kb_id, doc_id)
    return MessageRead(message="Document processing cancelled")


@bulk.post("/bulk-archive")
async def archive_documents(
    kb_id: UUID, wanted: SeveralDocuments, parts: CurrentParts, principal: CurrentPrincipal
) -> BulkArchivedRead:
    """Up to a hundred, each on its own. What is not completed, or not there, is skipped and listed."""
    return BulkArchivedRead.of(await bulk_archive(parts.mover, principal, kb_id, wanted.document_ids))


@archived.get("")
async def list_archived(
    work: CurrentWork,
    paging: Paging,
    kb_id: UUID | None = None,
    search: SearchText = "",
    archived_from: Annotated[Moment | None, Query(description="A time, or a day in UTC: from its beginning")] = None,
    archived_to: Annotated[Moment | None, Query(description="A time, or a day in UTC: until its end")] = None,
    sort: Annotated[Literal[SORTS], Query()] = "-archived_at",  # type: ignore[valid-type]  # the names are data
) -> Page[ArchivedRead]:
    """Archived documents of the knowledge bases that you own, or of the whole organization to an admin."""
    wanted = WantedArchived(
        kb_id,
        search=search,
        since=beginning_of(archived_from),
        before=end_of(archived_to),
        sort=sort,
        offset=paging.offset,
        limit=paging.limit,
    )
    found, total = await ArchivedRepository(work.session).list_(work.caller, wanted)
    items = [ArchivedRead.of(document, kb_name) for document, kb_name in found]
    return Page(items=items, total=total, page=paging.page, limit=paging.limit)


@router.get("/explain")
async def explain_document(
    kb_id: UUID, doc_id: UUID, parts: CurrentParts, principal: CurrentPrincipal
) -> ExplanationRead:
    """Why the document is where it is, what is in the way of which move, and what can be done by whom."""
    return ExplanationRead.of(await explain(parts.mover, principal, kb_id, doc_id))


@router.post("/retry", responses={409: {"model": DuplicateBody}})
async def retry_document(
    kb_id: UUID, doc_id: UUID, parts: CurrentParts, principal: CurrentPrincipal, wish: RetryWish | None = None
) -> DocumentRead:
    """Read a failed document again, or a completed one anew: its old result answers until the new one is complete."""
    wish = wish or RetryWish()
    run = RunWish(force=wish.force, algorithm_version=wish.algorithm_version)
    async with measured("retry", kb_id=kb_id, document_id=doc_id, user_id=principal.user_id):
        await _require_version(parts, principal, kb_id, doc_id, wish.algorithm_version)
        async with parts.database.work(principal) as work:
            document = DocumentRead.of(await retry(work, parts.tasks, kb_id, doc_id, run))
    moved(Move.RETRY, kb_id, principal.user_id)
    return document


async def _require_version(
    parts: Parts, principal: Principal, kb_id: UUID, doc_id: UUID, algorithm_version: int | None
) -> None:
    if algorithm_version in (None, ALGORITHM_VERSION):
        return
    async with parts.database.work(principal) as work:
        (await require_member(work, kb_id)).require_upload()
        document = await DocumentRepository(work.session).get(kb_id, doc_id)
    async with parts.database.service_work(Service(document.organization_id)) as service:
        stored = await ArtifactRepository(service.session).find_newest(document.content_hmac, algorithm_version)
    if stored is None:
        raise VersionUnknown
