"""Submit pending hand-overs and verify that queued jobs are still in the queue."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog

from muniment.documents.handover_status import HandoverStatus
from muniment.documents.originals import Original
from muniment.errors import MunimentError, Unavailable
from muniment.handover.job_key import JobKey
from muniment.handover.queue import HandoverStores, delete_job, find_sidecar, keep_paperless_document, undo_cancel
from muniment.handover.repository import HandoverJob, HandoverRepository, OpenedRecord
from muniment.handover.sidecar import InvalidSidecar
from muniment.handover.submission import DocumentHandover, build_sidecar, open_record
from muniment.handover.tables import HandoverRecord, Priority
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, PendingWork, list_organizations_with
from muniment.storage.objects.port import JSON_CONTENT_TYPE, ObjectNotFound

log = structlog.get_logger()

BATCH_SIZE = 100
CANCELLATION_TIMEOUT = timedelta(minutes=10)
"""Time after which a cancellation was certainly not completed."""
LOST_MESSAGE = "The queued file is missing and Muniment has no copy. Send the document again"


@dataclass(frozen=True)
class HandoverSweep:
    """Submits what is pending, retries what failed and verifies what is queued."""

    documents: DocumentHandover

    @property
    def database(self) -> Database:
        return self.documents.submissions.database

    @property
    def stores(self) -> HandoverStores:
        return self.documents.submissions.stores

    async def sweep(self) -> None:
        for organization_id in await list_organizations_with(self.database, PendingWork.HANDOVERS):
            await self.sweep_organization(organization_id)

    async def sweep_organization(self, organization_id: UUID) -> None:
        """Sweep one batch of one organization. A queue that does not respond is tried again at the next sweep."""
        try:
            await self._submit_pending(organization_id)
            await self._recheck_due(organization_id)
        except Unavailable as error:
            log.warning("handover.sweep_interrupted", organization_id=str(organization_id), error=error.message)

    async def _submit_pending(self, organization_id: UUID) -> None:
        async with self.database.service_work(Service(organization_id)) as work:
            document_ids = await HandoverRepository(work.session).list_unsubmitted(limit=BATCH_SIZE)
        for document_id in document_ids:
            await self._submit(organization_id, document_id)

    async def _recheck_due(self, organization_id: UUID) -> None:
        async with self.database.service_work(Service(organization_id)) as work:
            records = HandoverRepository(work.session)
            await records.sync_document_status()
            due = await records.claim_due(limit=BATCH_SIZE)
        for row in due:
            if row.archive_status == HandoverStatus.FAILED:
                await self._resubmit(row)
            elif row.archive_status == HandoverStatus.PENDING:
                await self._verify_queued(row)

    async def _resubmit(self, row: HandoverRecord) -> None:
        """Submit a failed hand-over again. Its document may have been replaced or deleted since."""
        if not await self._resubmit_from_original(row):
            await self._mark_permanently_failed(row, None)
            return
        key = job_key_of(row)
        if await self.stores.queue.exists(key.sidecar) and await keep_paperless_document(self.stores, key):
            await delete_job(self.stores.dead_letters, key)  # the copy among the dead letters, if any

    async def _verify_queued(self, row: HandoverRecord) -> None:
        """Verify that a pending job is in the queue, and resolve it if it is not."""
        key = job_key_of(row)
        has_sidecar, has_pdf = await self.stores.queue.exists(key.sidecar), await self.stores.queue.exists(key.pdf)
        if has_sidecar and has_pdf:
            await self._undo_stale_cancellation(key)
        elif await self._is_dead_letter(key):
            await self._mark_permanently_failed(row, None)
        elif await self._resubmit_from_original(row) or has_sidecar:
            return  # a sidecar without a PDF is left to the archiver, which may have died between its two deletions
        elif has_pdf or await self._was_archived_before(row):
            await self._write_sidecar(row)
        else:
            log.error("handover.job_missing", job_id=key.pdf, document_id=str(row.bilko_document_id))
            await self._mark_permanently_failed(row, LOST_MESSAGE)

    async def _undo_stale_cancellation(self, key: JobKey) -> None:
        sidecar = await find_sidecar(self.stores.queue, key)
        cancelled_at = sidecar.cancelled_at if sidecar else None
        if cancelled_at is not None and cancelled_at < now() - CANCELLATION_TIMEOUT:
            with suppress(ObjectNotFound, InvalidSidecar):
                await undo_cancel(self.stores.queue, key)

    async def _is_dead_letter(self, key: JobKey) -> bool:
        dead_letters = self.stores.dead_letters
        return await dead_letters.exists(key.sidecar) or await dead_letters.exists(key.pdf)

    async def _was_archived_before(self, row: HandoverRecord) -> bool:
        """Return whether Paperless had this content once. Whether it still has is for the archiver to check: the copy
        may be in the trash."""
        async with self.database.service_work(Service(row.organization_id)) as work:
            return await HandoverRepository(work.session).list_confirmed_ids(row.sha256) != []

    async def _write_sidecar(self, row: HandoverRecord) -> None:
        """Write the missing sidecar. Without a PDF, the archiver closes the job if Paperless has the document."""
        async with self.database.service_work(Service(row.organization_id)) as work:
            name = await HandoverRepository(work.session).get_organization_name(row.organization_id)
        job, record = _job_of(row), _record_of(row, name)
        await self.stores.queue.put_if_absent(
            job.key.sidecar, build_sidecar(job, record).to_bytes(), content_type=JSON_CONTENT_TYPE
        )

    async def _resubmit_from_original(self, row: HandoverRecord) -> bool:
        """Submit the job again from an original. Return False if Muniment has none."""
        async with self.database.service_work(Service(row.organization_id)) as work:
            records = HandoverRepository(work.session)
            document = await records.find_document(row.bilko_document_id, row.sha256)
            original = document or await records.find_original(row.sha256)
        if original is None:
            return False
        if document is not None:
            await self._submit(row.organization_id, document.id)
            return True
        job, content = _job_of(row), Original.of(self.documents.objects, original)
        async with self.database.service_work(Service(row.organization_id)) as work:
            record = await open_record(work, job)
        if record.status is HandoverStatus.PENDING:
            with suppress(MunimentError):  # stored on the record
                await self.documents.submissions.enqueue(job, record, content, will_retry=True)
        return True

    async def _submit(self, organization_id: UUID, document_id: UUID) -> None:
        """Submit a document. An error is stored on its record."""
        try:
            await self.documents.submit(organization_id, document_id)
        except MunimentError as error:
            log.warning("handover.submission_failed", document_id=str(document_id), error=error.message)

    async def _mark_permanently_failed(self, row: HandoverRecord, error: str | None) -> None:
        async with self.database.service_work(Service(row.organization_id)) as work:
            records = HandoverRepository(work.session)
            await records.mark_permanently_failed(row.id, error)
            await records.sync_document_status(job_key_of(row))


def job_key_of(row: HandoverRecord) -> JobKey:
    key = JobKey.parse(row.r2_object_key)
    assert key is not None, "written by us, from a key"
    return key


def _job_of(row: HandoverRecord) -> HandoverJob:
    return HandoverJob(job_key_of(row), row.bilko_document_id, row.details, Priority(row.priority))


def _record_of(row: HandoverRecord, organization_name: str) -> OpenedRecord:
    return OpenedRecord(HandoverStatus.PENDING, False, organization_name, row.created_at)
