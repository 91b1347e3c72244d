from uuid import UUID

from fastapi import APIRouter

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.variants import ALGORITHM_VERSION
from muniment.documents.repository import DocumentRepository
from muniment.documents.schemas import DocumentRead, DuplicateBody
from muniment.http.dependencies import CurrentParts, CurrentPrincipal
from muniment.http.parts import Parts
from muniment.knowledge_bases.access import get_access
from muniment.lifecycle.measured import measured, moved
from muniment.lifecycle.retry import VersionUnknown, retry
from muniment.lifecycle.rules import Move
from muniment.lifecycle.schemas import RetryWish
from muniment.storage.db.principal import Principal, Service
from muniment.storage.tasks.port import RunWish

router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}", tags=["lifecycle"])


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
