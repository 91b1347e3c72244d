"""Apply status updates of the archiver and store the Paperless ids of an organization.

The contract is docs/contracts.md#completion and docs/contracts.md#archive-audit-log.
"""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.events import DocumentArchiveConfirmed, DocumentArchiveFailed, HandoverEvent
from muniment.audit.log import AuditLog
from muniment.documents.handover_status import HandoverStatus
from muniment.handover.internal.contract import JobStatusUpdate
from muniment.handover.job_key import JobKey
from muniment.handover.repository import HandoverRepository
from muniment.handover.tables import HandoverRecord, OrganizationPaperlessIds
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work


@dataclass(frozen=True)
class OrganizationIds:
    paperless_correspondent_id: int
    paperless_org_tag_id: int


class OrganizationIdsRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find(self, organization_id: UUID) -> OrganizationIds | None:
        found = await self._session.scalar(
            select(OrganizationPaperlessIds).where(OrganizationPaperlessIds.organization_id == organization_id)
        )
        return OrganizationIds(found.paperless_correspondent_id, found.paperless_org_tag_id) if found else None

    async def store(self, organization_id: UUID, ids: OrganizationIds) -> bool:
        """Whether they were others, or none."""
        if await self.find(organization_id) == ids:
            return False
        added = insert(OrganizationPaperlessIds).values(organization_id=organization_id, **vars(ids))
        await self._session.execute(
            added.on_conflict_do_update(
                index_elements=["organization_id"], set_={**vars(ids), "updated_at": func.now()}
            )
        )
        return True


async def apply_status_update(work: Work[Service], document_id: UUID, key: JobKey, update: JobStatusUpdate) -> None:
    """Note it on every row of this job and on the documents that wait for it. `OrganizationUnknown` where there is no
    such organization: then the job is a dead letter. Doing it twice changes nothing."""
    archive = HandoverRepository(work.session)
    await archive.get_organization_name(key.organization_id)
    if update.status is HandoverStatus.ARCHIVED and update.archived_at is None:
        update = replace(update, archived_at=now())
    for row in await archive.apply_status(document_id, key, update):
        if event := _build_event(row, update):
            await AuditLog(work).record(event)


def _build_event(row: HandoverRecord, update: JobStatusUpdate) -> HandoverEvent | None:
    if update.status is HandoverStatus.ARCHIVED:
        ids = (update.paperless_doc_id, update.paperless_doc_url)
        return DocumentArchiveConfirmed(row.bilko_document_id, row.r2_object_key, *ids)
    if update.status is HandoverStatus.FAILED:
        return DocumentArchiveFailed(row.bilko_document_id, row.r2_object_key, update.retry_count)
    return None
