"""Internal API for the archiver, with a key of its own (docs/contracts.md#internal-api)."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request

from muniment.audit.events import FailedHandOversHastened, PaperlessObjectsNoted
from muniment.audit.log import AuditLog
from muniment.errors import NotFound, NotSignedIn
from muniment.handover.dead_letters import DeadLetterNotFound
from muniment.handover.internal.contract import JobStatusUpdateBody, OrganizationIdsBody, RequeuedFailedRead
from muniment.handover.internal.service import OrganizationIds, OrganizationIdsRepository, apply_status_update
from muniment.handover.job_key import JobKey
from muniment.handover.repository import DueHandoverRepository, HandoverRepository
from muniment.handover.schemas import RequeuedRead
from muniment.http.dependencies import ClientAddress, CurrentServices, secrets_equal
from muniment.storage.db.principal import Actor, Service
from muniment.storage.db.work import list_organizations


async def require_archiver(request: Request, parts: CurrentServices) -> None:
    """`Authorization: Bearer` with one of the archiver's keys. Whoever a person's token belongs to, it is not one."""
    given = request.headers.get("authorization", "")
    # All of them, always: how long it takes tells nothing.
    matches = [secrets_equal(given, f"Bearer {key}") for key in parts.handover.internal_keys]
    if not any(matches):
        raise NotSignedIn


async def get_archiver_actor(address: ClientAddress) -> Actor:
    return Actor("archiver", address)


ArchiverActor = Annotated[Actor, Depends(get_archiver_actor)]
router = APIRouter(prefix="/internal/v1", include_in_schema=False, dependencies=[Depends(require_archiver)])


class PaperlessIdsNotFound(NotFound):
    """No Paperless IDs are recorded for this organization yet"""


@router.patch("/archive-audit/{bilko_document_id}", status_code=204)
async def patch_archive_audit(
    bilko_document_id: UUID, body: JobStatusUpdateBody, parts: CurrentServices, actor: ArchiverActor
) -> None:
    """404 for an unknown organization: then the job is a dead letter. Saying it twice changes nothing."""
    key, outcome = body.key, body.status_update
    async with parts.database.service_work(actor.as_service(body.organization_id)) as work:
        await apply_status_update(work, bilko_document_id, key, outcome)


@router.get("/paperless-cache/{organization_id}")
async def get_paperless_cache(organization_id: UUID, parts: CurrentServices) -> OrganizationIdsBody:
    async with parts.database.service_work(Service(organization_id)) as work:
        found = await OrganizationIdsRepository(work.session).find(organization_id)
    if found is None:
        raise PaperlessIdsNotFound
    return OrganizationIdsBody(**vars(found))


@router.put("/paperless-cache/{organization_id}")
async def put_paperless_cache(
    organization_id: UUID, body: OrganizationIdsBody, parts: CurrentServices, actor: ArchiverActor
) -> OrganizationIdsBody:
    async with parts.database.service_work(actor.as_service(organization_id)) as work:
        await HandoverRepository(work.session).get_organization_name(organization_id)  # 404 where there is none
        ids = OrganizationIds(**body.model_dump())
        if await OrganizationIdsRepository(work.session).store(organization_id, ids):
            await AuditLog(work).record(PaperlessObjectsNoted(**vars(ids)))
    return body


@router.post("/dead-letters/{key:path}/requeue")
async def requeue(key: str, parts: CurrentServices, actor: ArchiverActor) -> RequeuedRead:
    job = _parse_job_key(key)
    await parts.handover.dead_letters.requeue(job, actor)
    return RequeuedRead(job_id=job.pdf)


@router.post("/dead-letters/{key:path}/discard", status_code=204)
async def discard(key: str, parts: CurrentServices, actor: ArchiverActor) -> None:
    await parts.handover.dead_letters.discard(_parse_job_key(key), actor)


@router.post("/failed/requeue")
async def requeue_failed(parts: CurrentServices, actor: ArchiverActor) -> RequeuedFailedRead:
    """Everything that failed and whose original Muniment holds is handed over again, by the next sweep."""
    requeued = 0
    for organization_id in await list_organizations(parts.database):
        async with parts.database.service_work(actor.as_service(organization_id)) as work:
            count = await DueHandoverRepository(work.session).schedule_failed_now()
            if count:
                await AuditLog(work).record(FailedHandOversHastened(count))
        requeued += count
    return RequeuedFailedRead(requeued=requeued)


def _parse_job_key(key: str) -> JobKey:
    job = JobKey.parse(key)
    if job is None:
        raise DeadLetterNotFound
    return job
