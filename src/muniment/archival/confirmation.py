"""What the archiver says of a job becomes what everybody sees of the document (specs/archive-queue.md §3.3, §9.3)."""

from dataclasses import replace
from uuid import UUID

from muniment.archival.keys import JobKey
from muniment.archival.repository import ArchiveRepository, Outcome
from muniment.archival.tables import ArchiveAudit, ArchiveStatus
from muniment.audit.events import ArchiveEvent, DocumentArchiveConfirmed, DocumentArchiveFailed
from muniment.audit.log import AuditLog
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work


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
