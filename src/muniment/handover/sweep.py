"""Submit pending hand-overs and verify that queued jobs are still in the queue."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog

from muniment.documents.handover_status import HandoverStatus
from muniment.errors import MunimentError, Unavailable
from muniment.handover.content import OriginalContent
from muniment.handover.job_key import JobKey
from muniment.handover.queue import HandoverStores, delete_job, find_sidecar, undo_cancel
from muniment.handover.repository import HandoverJob, HandoverRepository, OpenedRecord
from muniment.handover.sidecar import InvalidSidecar
from muniment.handover.submission import DocumentHandover
from muniment.handover.tables import HandoverRecord, Priority
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, PendingWork, list_organizations_with
from muniment.storage.objects.port import ObjectNotFound

log = structlog.get_logger()

BATCH_SIZE = 100
CANCELLATION_TIMEOUT = timedelta(minutes=10)
"""Longer than whoever takes a job back needs to say so with a commit."""
LOST_MESSAGE = "The queued file is missing and Muniment has no copy. Send the document again"


@dataclass(frozen=True)
class HandoverSweep:
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
        """Of one organization, as much as goes into one batch. A queue that does not answer is asked again later."""
        try:
            await self._submit_pending(organization_id)
            await self._recheck_due(organization_id)
        except Unavailable as error:
            log.warning("archive.sweep_interrupted", organization_id=str(organization_id), error=error.message)

    async def _submit_pending(self, organization_id: UUID) -> None:
        async with self.database.service_work(Service(organization_id)) as work:
            wishes = await HandoverRepository(work.session).list_unsubmitted(limit=BATCH_SIZE)
        for document_id in wishes:
            await self._submit(organization_id, document_id)

    async def _recheck_due(self, organization_id: UUID) -> None:
        async with self.database.service_work(Service(organization_id)) as work:
            await HandoverRepository(work.session).sync_document_status()
            due = await HandoverRepository(work.session).claim_due(limit=BATCH_SIZE)
        for row in due:
            await (self._resubmit(row) if row.archive_status == HandoverStatus.FAILED else self._verify_queued(row))

    async def _resubmit(self, row: HandoverRecord) -> None:
        """A hand-over that failed, of a document that may have been replaced or removed since."""
        if not await self._resubmit_from_original(row):
            await self._mark_permanently_failed(row, None)
        elif await self.stores.queue.exists(job_key_of(row).sidecar):
            await delete_job(self.stores.dead_letters, job_key_of(row))  # where it lay, if it was one

    async def _verify_queued(self, row: HandoverRecord) -> None:
        """Is what waits for the archiver really in the queue?"""
        key = job_key_of(row)
        has_sidecar, has_pdf = await self.stores.queue.exists(key.sidecar), await self.stores.queue.exists(key.pdf)
        if has_sidecar and has_pdf:
            await self._undo_stale_cancellation(key)
        elif await self._is_dead_letter(key):
            await self._mark_permanently_failed(row, None)
        elif await self._mark_if_archived(row):
            if not has_sidecar:  # the PDF of a hand-over that came between proof and delete
                await self.stores.queue.delete(key.pdf)
        elif not await self._resubmit_from_original(row) and not has_sidecar:
            # A sidecar alone is the archiver's: it may have died between its two deletes.
            log.error("archive.lost_from_queue", job_id=key.pdf, document_id=str(row.bilko_document_id))
            await self._mark_permanently_failed(row, LOST_MESSAGE)

    async def _undo_stale_cancellation(self, key: JobKey) -> None:
        found = await find_sidecar(self.stores.queue, key)
        if found is not None and found.cancelled_at is not None and found.cancelled_at < now() - CANCELLATION_TIMEOUT:
            with suppress(ObjectNotFound, InvalidSidecar):
                await undo_cancel(self.stores.queue, key)

    async def _is_dead_letter(self, key: JobKey) -> bool:
        letters = self.stores.dead_letters
        return await letters.exists(key.sidecar) or await letters.exists(key.pdf)

    async def _mark_if_archived(self, row: HandoverRecord) -> bool:
        """With the copy that another row of the same bytes was proven by."""
        async with self.database.service_work(Service(row.organization_id)) as work:
            due = HandoverRepository(work.session)
            proven = await due.find_confirmed_copy(row.sha256)
            if proven is None:
                return False
            await due.mark_archived_as(row.id, proven)
            await HandoverRepository(work.session).sync_document_status(job_key_of(row))
        return True

    async def _resubmit_from_original(self, row: HandoverRecord) -> bool:
        """Hand it over again from bytes that Muniment holds; `False` where it holds none."""
        async with self.database.service_work(Service(row.organization_id)) as work:
            due = HandoverRepository(work.session)
            document = await due.find_document(row.bilko_document_id, row.sha256)
            original = document or await due.find_original(row.sha256)
            name = await HandoverRepository(work.session).get_organization_name(row.organization_id)
        if original is None:
            return False
        if document is not None:
            await self._submit(row.organization_id, document.id)
            return True
        job = HandoverJob(job_key_of(row), row.bilko_document_id, row.details, Priority(row.priority))
        begun = OpenedRecord(HandoverStatus.PENDING, is_new=False, organization_name=name, submitted_at=row.created_at)
        with suppress(MunimentError):  # noted on the row
            await self.documents.submissions.enqueue(
                job, begun, OriginalContent(self.documents.blobs, original.original_uri), will_retry=True
            )
        return True

    async def _submit(self, organization_id: UUID, document_id: UUID) -> None:
        """What goes wrong stands on its row."""
        try:
            await self.documents.submit(organization_id, document_id)
        except MunimentError as error:
            log.warning("archive.hand_over_failed", document_id=str(document_id), error=error.message)

    async def _mark_permanently_failed(self, row: HandoverRecord, error: str | None) -> None:
        async with self.database.service_work(Service(row.organization_id)) as work:
            await HandoverRepository(work.session).mark_permanently_failed(row.id, error)
            await HandoverRepository(work.session).sync_document_status(job_key_of(row))


def job_key_of(row: HandoverRecord) -> JobKey:
    key = JobKey.parse(row.r2_object_key)
    assert key is not None, "written by us, from a key"
    return key
