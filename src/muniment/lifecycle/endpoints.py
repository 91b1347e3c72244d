from uuid import UUID

from fastapi import APIRouter

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.variants import ALGORITHM_VERSION
from muniment.documents.repository import DocumentRepository
from muniment.documents.schemas import DocumentRead, DuplicateBody
from muniment.http.dependencies import CurrentParts, CurrentPrincipal
from muniment.http.parts import Parts
from muniment.knowledge_bases.access import get_access
from muniment.lifecycle.archive import archive
from muniment.lifecycle.bulk_archive import bulk_archive
from muniment.lifecycle.cancel import cancel
from muniment.lifecycle.measured import measured, moved
from muniment.lifecycle.restore import restore
from muniment.lifecycle.retry import VersionUnknown, retry
from muniment.lifecycle.rules import Move
from muniment.lifecycle.schemas import BulkArchivedRead, MessageRead, MovedRead, RetryWish, SeveralDocuments
from muniment.storage.db.principal import Principal, Service
from muniment.storage.tasks.port import RunWish

router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}", tags=["lifecycle"])
bulk = APIRouter(prefix="/knowledge-bases/{kb_id}/documents", tags=["lifecycle"])


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
        (await get_access(work, kb_id)).require_upload()
        document = await DocumentRepository(work.session).get(kb_id, doc_id)
    async with parts.database.service_work(Service(document.organization_id)) as service:
        stored = await ArtifactRepository(service.session).find_newest(document.content_hmac, algorithm_version)
    if stored is None:
        raise VersionUnknown
