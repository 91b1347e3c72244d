"""Apply status updates of the archiver, and store the Paperless ids of an organization (specs/archive-queue.md §3.3,
§9.3).
"""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.events import ArchiveEvent, DocumentArchiveConfirmed, DocumentArchiveFailed
from muniment.audit.log import AuditLog
from muniment.documents.handover_status import ArchiveStatus
from muniment.handover.internal.contract import Outcome
from muniment.handover.job_key import JobKey
from muniment.handover.repository import ArchiveRepository
from muniment.handover.tables import ArchiveAudit, PaperlessCache
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work


@dataclass(frozen=True)
class PaperlessIds:
    paperless_correspondent_id: int
    paperless_org_tag_id: int


class PaperlessCacheRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find(self, organization_id: UUID) -> PaperlessIds | None:
        found = await self._session.scalar(
            select(PaperlessCache).where(PaperlessCache.organization_id == organization_id)
        )
        return PaperlessIds(found.paperless_correspondent_id, found.paperless_org_tag_id) if found else None

    async def put(self, organization_id: UUID, ids: PaperlessIds) -> bool:
        """Whether they were others, or none."""
        if await self.find(organization_id) == ids:
            return False
        added = insert(PaperlessCache).values(organization_id=organization_id, **vars(ids))
        await self._session.execute(
            added.on_conflict_do_update(
                index_elements=["organization_id"], set_={**vars(ids), "updated_at": func.now()}
            )
        )
        return True


async def confirm(work: Work[Service], document_id: UUID, key: JobKey, outcome: Outcome) -> None:
    """Note it on every row of this job and on the documents that wait for it. `OrganizationUnknown` where there is no
    such organization: then the job is a dead letter. Doing it twice changes nothing."""
    archive = ArchiveRepository(work.session)
    await archive.organization_name(key.organization_id)
    if outcome.status is ArchiveStatus.ARCHIVED and outcome.archived_at is None:
        outcome = replace(outcome, archived_at=now())
    for row in await archive.record(document_id, key, outcome):
        if event := _event(row, outcome):
            await AuditLog(work).record(event)


def _event(row: ArchiveAudit, outcome: Outcome) -> ArchiveEvent | None:
    if outcome.status is ArchiveStatus.ARCHIVED:
        ids = (outcome.paperless_doc_id, outcome.paperless_doc_url)
        return DocumentArchiveConfirmed(row.bilko_document_id, row.r2_object_key, *ids)
    if outcome.status is ArchiveStatus.FAILED:
        return DocumentArchiveFailed(row.bilko_document_id, row.r2_object_key, outcome.retry_count)
    return None
