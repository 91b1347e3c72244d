"""Apply status updates of the archiver and store Paperless ids (docs/contracts.md#internal-api)."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.events import DocumentArchiveConfirmed, DocumentArchiveFailed, HandoverEvent
from muniment.audit.log import AuditLog
from muniment.documents.handover_status import HandoverStatus
from muniment.handover.internal.contract import JobStatusUpdate, OrganizationIds
from muniment.handover.repository import HandoverRepository
from muniment.handover.tables import HandoverRecord, OrganizationPaperlessIds
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work


class OrganizationIdsRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find(self, organization_id: UUID) -> OrganizationIds | None:
        row = await self._session.scalar(
            select(OrganizationPaperlessIds).where(OrganizationPaperlessIds.organization_id == organization_id)
        )
        return OrganizationIds.model_validate(row) if row else None

    async def store(self, organization_id: UUID, ids: OrganizationIds) -> bool:
        """Store the ids. Return whether anything changed."""
        if await self.find(organization_id) == ids:
            return False
        values = ids.model_dump()
        await self._session.execute(
            insert(OrganizationPaperlessIds)
            .values(organization_id=organization_id, **values)
            .on_conflict_do_update(index_elements=["organization_id"], set_={**values, "updated_at": func.now()})
        )
        return True


async def apply_status_update(work: Work[Service], document_id: UUID | None, update: JobStatusUpdate) -> None:
    """Record the status on every record of the job and on the documents that wait for it. Idempotent.

    Raise `OrganizationNotFound` if there is no such organization: the archiver then moves the job to the dead letters.
    """
    records = HandoverRepository(work.session)
    await records.get_organization_name(update.organization_id)
    if update.archive_status is HandoverStatus.ARCHIVED and update.archived_at is None:
        update = update.model_copy(update={"archived_at": now()})
    for row in await records.apply_status(document_id, update):
        if event := _build_event(row, update):
            await AuditLog(work).record(event)


def _build_event(row: HandoverRecord, update: JobStatusUpdate) -> HandoverEvent | None:
    if update.archive_status is HandoverStatus.ARCHIVED:
        ids = (update.paperless_doc_id, update.paperless_doc_url)
        return DocumentArchiveConfirmed(row.bilko_document_id, row.r2_object_key, *ids)
    if update.archive_status is HandoverStatus.FAILED:
        return DocumentArchiveFailed(row.bilko_document_id, row.r2_object_key, update.retry_count)
    return None
