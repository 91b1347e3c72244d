"""Internal API for the archiver, with a key of its own (specs/archive-queue.md §3.3, §5.1, §9.3)."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request

from muniment.audit.events import FailedHandOversHastened, PaperlessObjectsNoted
from muniment.audit.log import AuditLog
from muniment.errors import NotFound, NotSignedIn
from muniment.handover.dead_letters import DeadLetterNotFound
from muniment.handover.internal.contract import ArchiveAuditPatch, PaperlessCacheBody, RequeuedFailedRead
from muniment.handover.internal.service import PaperlessCacheRepository, PaperlessIds, confirm
from muniment.handover.job_key import JobKey
from muniment.handover.repository import ArchiveRepository, DueRepository
from muniment.handover.schemas import RequeuedRead
from muniment.http.dependencies import ClientAddress, CurrentParts, same_secret
from muniment.storage.db.principal import Asker, Service
from muniment.storage.db.work import list_organizations


async def require_archiver(request: Request, parts: CurrentParts) -> None:
    """`Authorization: Bearer` with one of the archiver's keys. Whoever a person's token belongs to, it is not one."""
    given = request.headers.get("authorization", "")
    # All of them, always: how long it takes tells nothing.
    matches = [same_secret(given, f"Bearer {key}") for key in parts.archive.internal_keys]
    if not any(matches):
        raise NotSignedIn


async def get_archiver(address: ClientAddress) -> Asker:
    return Asker("archiver", address)


Archiver = Annotated[Asker, Depends(get_archiver)]
router = APIRouter(prefix="/internal/v1", include_in_schema=False, dependencies=[Depends(require_archiver)])


class NothingNoted(NotFound):
    """No Paperless IDs are recorded for this organization yet"""


@router.patch("/archive-audit/{bilko_document_id}", status_code=204)
async def patch_archive_audit(
    bilko_document_id: UUID, said: ArchiveAuditPatch, parts: CurrentParts, archiver: Archiver
) -> None:
    """404 for an unknown organization: then the job is a dead letter. Saying it twice changes nothing."""
    key, outcome = said.key, said.outcome
    async with parts.database.service_work(archiver.within(said.organization_id)) as work:
        await confirm(work, bilko_document_id, key, outcome)


@router.get("/paperless-cache/{organization_id}")
async def get_paperless_cache(organization_id: UUID, parts: CurrentParts) -> PaperlessCacheBody:
    async with parts.database.service_work(Service(organization_id)) as work:
        found = await PaperlessCacheRepository(work.session).find(organization_id)
    if found is None:
        raise NothingNoted
    return PaperlessCacheBody(**vars(found))


@router.put("/paperless-cache/{organization_id}")
async def put_paperless_cache(
    organization_id: UUID, noted: PaperlessCacheBody, parts: CurrentParts, archiver: Archiver
) -> PaperlessCacheBody:
    async with parts.database.service_work(archiver.within(organization_id)) as work:
        await ArchiveRepository(work.session).organization_name(organization_id)  # 404 where there is none
        ids = PaperlessIds(**noted.model_dump())
        if await PaperlessCacheRepository(work.session).put(organization_id, ids):
            await AuditLog(work).record(PaperlessObjectsNoted(**vars(ids)))
    return noted


@router.post("/dead-letters/{key:path}/requeue")
async def requeue(key: str, parts: CurrentParts, archiver: Archiver) -> RequeuedRead:
    job = _parsed(key)
    await parts.archive.letters.requeue(job, archiver)
    return RequeuedRead(job_id=job.pdf)


@router.post("/dead-letters/{key:path}/discard", status_code=204)
async def discard(key: str, parts: CurrentParts, archiver: Archiver) -> None:
    await parts.archive.letters.discard(_parsed(key), archiver)


@router.post("/failed/requeue")
async def requeue_failed(parts: CurrentParts, archiver: Archiver) -> RequeuedFailedRead:
    """Everything that failed and whose original Muniment holds is handed over again, by the next sweep."""
    requeued = 0
    for organization_id in await list_organizations(parts.database):
        async with parts.database.service_work(archiver.within(organization_id)) as work:
            count = await DueRepository(work.session).hasten_failed()
            if count:
                await AuditLog(work).record(FailedHandOversHastened(count))
        requeued += count
    return RequeuedFailedRead(requeued=requeued)


def _parsed(key: str) -> JobKey:
    job = JobKey.parse(key)
    if job is None:
        raise DeadLetterNotFound
    return job
