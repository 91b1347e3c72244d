"""Internal API for the archiver, with a separate key (docs/contracts.md#internal-api)."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute

from muniment.audit.events import FailedHandOversHastened, PaperlessObjectsNoted
from muniment.audit.log import AuditLog
from muniment.errors import NotFound, NotSignedIn
from muniment.handover.internal.contract import ConfirmedDocuments, JobStatusUpdate, OrganizationIds, RequeuedFailedRead
from muniment.handover.internal.service import OrganizationIdsRepository, apply_status_update
from muniment.handover.job_key import JobKey
from muniment.handover.queue_listing import DeadLetterNotFound
from muniment.handover.repository import HandoverRepository
from muniment.handover.schemas import RequeuedRead
from muniment.http.dependencies import ClientAddress, CurrentServices, secrets_equal
from muniment.storage.db.principal import Actor, Service
from muniment.storage.db.work import list_organizations


async def require_archiver(request: Request, services: CurrentServices) -> None:
    """Require `Authorization: Bearer` with one of the archiver's keys. Tokens of users are rejected."""
    credentials = request.headers.get("authorization", "")
    # Compare with every key, so that the duration reveals nothing.
    matches = [secrets_equal(credentials, f"Bearer {key}") for key in services.handover.internal_keys]
    if not any(matches):
        raise NotSignedIn


async def get_archiver_actor(address: ClientAddress) -> Actor:
    return Actor("archiver", address)


ArchiverActor = Annotated[Actor, Depends(get_archiver_actor)]


class CodedErrorRoute(APIRoute):
    """A route whose 404 has a `code` beside `detail`, so that the archiver need not compare sentences."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_with_code(request: Request) -> Response:
            try:
                return await handle(request)
            except NotFound as error:
                error.body = {"detail": error.message, "code": error.code}
                raise

        return handle_with_code


router = APIRouter(
    prefix="/internal/v1",
    include_in_schema=False,
    dependencies=[Depends(require_archiver)],
    route_class=CodedErrorRoute,
)


class PaperlessIdsNotFound(NotFound):
    """No Paperless IDs are recorded for this organization yet"""


@router.patch("/archive-audit/{bilko_document_id}", status_code=204)
async def patch_archive_audit(
    bilko_document_id: UUID, body: JobStatusUpdate, services: CurrentServices, actor: ArchiverActor
) -> None:
    """Record the status of a job. Idempotent. 404 for an unknown organization."""
    _ = body.key  # before the transaction: a key of another organization is invalid
    async with services.database.service_work(actor.as_service(body.organization_id)) as work:
        await apply_status_update(work, bilko_document_id, body)


@router.patch("/archive-audit", status_code=204)
async def patch_archive_audit_of_key(body: JobStatusUpdate, services: CurrentServices, actor: ArchiverActor) -> None:
    """Record the status of a job whose document the archiver does not know. Existing records of its key change."""
    _ = body.key
    async with services.database.service_work(actor.as_service(body.organization_id)) as work:
        await apply_status_update(work, None, body)


@router.get("/paperless-cache/{organization_id}")
async def get_paperless_cache(organization_id: UUID, services: CurrentServices) -> OrganizationIds:
    async with services.database.service_work(Service(organization_id)) as work:
        found = await OrganizationIdsRepository(work.session).find(organization_id)
    if found is None:
        raise PaperlessIdsNotFound
    return found


@router.put("/paperless-cache/{organization_id}")
async def put_paperless_cache(
    organization_id: UUID, body: OrganizationIds, services: CurrentServices, actor: ArchiverActor
) -> OrganizationIds:
    async with services.database.service_work(actor.as_service(organization_id)) as work:
        await HandoverRepository(work.session).get_organization_name(organization_id)  # 404 where there is none
        if await OrganizationIdsRepository(work.session).store(organization_id, body):
            await AuditLog(work).record(PaperlessObjectsNoted(**body.model_dump()))
    return body


@router.get("/confirmed-documents/{organization_id}/{sha256}")
async def get_confirmed_documents(organization_id: UUID, sha256: str, services: CurrentServices) -> ConfirmedDocuments:
    """Return the documents in Paperless that are confirmed for this content. They must not be moved to the trash."""
    async with services.database.service_work(Service(organization_id)) as work:
        ids = await HandoverRepository(work.session).list_confirmed_ids(sha256)
    return ConfirmedDocuments(paperless_doc_ids=list(ids))


@router.post("/dead-letters/{key:path}/requeue")
async def requeue(key: str, services: CurrentServices, actor: ArchiverActor) -> RequeuedRead:
    job = _parse_job_key(key)
    await services.handover.dead_letters.requeue(job, actor)
    return RequeuedRead(job_id=job.pdf)


@router.post("/dead-letters/{key:path}/discard", status_code=204)
async def discard(key: str, services: CurrentServices, actor: ArchiverActor) -> None:
    await services.handover.dead_letters.discard(_parse_job_key(key), actor)


@router.post("/failed/requeue")
async def requeue_failed(services: CurrentServices, actor: ArchiverActor) -> RequeuedFailedRead:
    """Requeue all failed hand-overs whose original Muniment still has. The next sweep submits them."""
    requeued = 0
    for organization_id in await list_organizations(services.database):
        async with services.database.service_work(actor.as_service(organization_id)) as work:
            count = await HandoverRepository(work.session).schedule_failed_now()
            if count:
                await AuditLog(work).record(FailedHandOversHastened(count))
        requeued += count
    return RequeuedFailedRead(requeued=requeued)


def _parse_job_key(key: str) -> JobKey:
    job = JobKey.parse(key)
    if job is None:
        raise DeadLetterNotFound
    return job
