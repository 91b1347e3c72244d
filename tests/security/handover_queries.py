"""Every query about hand-overs, aimed at those of a `World`."""

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.handover_status import HandoverStatus
from muniment.handover.internal.contract import JobStatusUpdate, OrganizationIds
from muniment.handover.internal.service import OrganizationIdsRepository
from muniment.handover.job_key import JobKey
from muniment.handover.repository import HandoverJob, HandoverRepository
from muniment.storage.db.base import new_id
from tests.security.world import SHA256, World

Query = Callable[[AsyncSession, World], Awaitable[Any]]

PENDING = [HandoverStatus.PENDING]


def _key(world: World) -> JobKey:
    return JobKey(world.organization_id, "other", SHA256)


def _failed_key(world: World) -> JobKey:
    return JobKey(world.organization_id, "invoice", SHA256)


def _archived_key(world: World) -> JobKey:
    return JobKey(world.organization_id, "contract", SHA256)


HANDOVER_QUERIES: dict[str, Query] = {
    "HandoverRepository.get_organization_name": lambda s, w: HandoverRepository(s).get_organization_name(
        w.organization_id
    ),
    "HandoverRepository.open": lambda s, w: HandoverRepository(s).open(HandoverJob(_key(w), new_id())),
    "HandoverRepository.mark_failed": lambda s, w: HandoverRepository(s).mark_failed(
        w.document_id, _key(w), "test", will_retry=True
    ),
    "HandoverRepository.apply_status": lambda s, w: HandoverRepository(s).apply_status(
        w.document_id, JobStatusUpdate.failed(_key(w), retry_count=0, error=None)
    ),
    "HandoverRepository.claim_due": lambda s, w: HandoverRepository(s).claim_due(limit=10),
    "HandoverRepository.list_confirmed_ids": lambda s, w: HandoverRepository(s).list_confirmed_ids(SHA256),
    "HandoverRepository.mark_permanently_failed": lambda s, w: HandoverRepository(s).mark_permanently_failed(
        w.archive_row_id, "test"
    ),
    "HandoverRepository.sync_document_status": lambda s, w: HandoverRepository(s).sync_document_status(_key(w)),
    "HandoverRepository.list_unsubmitted": lambda s, w: HandoverRepository(s).list_unsubmitted(limit=10),
    "HandoverRepository.find_original": lambda s, w: HandoverRepository(s).find_original(SHA256),
    "HandoverRepository.find_document": lambda s, w: HandoverRepository(s).find_document(w.document_id, SHA256),
    "HandoverRepository.list_of_document": lambda s, w: HandoverRepository(s).list_of_document(w.document_id),
    "HandoverRepository.find_latest_open": lambda s, w: HandoverRepository(s).find_latest_open(_key(w)),
    "HandoverRepository.list_failed_documents": lambda s, w: HandoverRepository(s).list_failed_documents(
        _failed_key(w)
    ),
    "HandoverRepository.reset_failed": lambda s, w: HandoverRepository(s).reset_failed(_failed_key(w)),
    "HandoverRepository.delete_unarchived": lambda s, w: HandoverRepository(s).delete_unarchived(
        w.document_id, _key(w)
    ),
    "HandoverRepository.has_other_waiting": lambda s, w: HandoverRepository(s).has_other_waiting(
        _key(w), PENDING, except_document_id=new_id()
    ),
    "HandoverRepository.is_known": lambda s, w: HandoverRepository(s).is_known(w.document_id, _key(w)),
    "HandoverRepository.schedule_failed_now": lambda s, w: HandoverRepository(s).schedule_failed_now(),
    "OrganizationIdsRepository.find": lambda s, w: OrganizationIdsRepository(s).find(w.organization_id),
    "OrganizationIdsRepository.store": lambda s, w: OrganizationIdsRepository(s).store(
        w.organization_id, OrganizationIds(paperless_correspondent_id=3, paperless_org_tag_id=4)
    ),
}
