"""Submit pending hand-overs and verify that queued jobs are still in the queue."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog

from muniment.documents.handover_status import ArchiveStatus
from muniment.errors import MunimentError, Unavailable
from muniment.handover.content import StoredContent
from muniment.handover.job_key import JobKey
from muniment.handover.queue import ArchiveStores, delete_job, find_sidecar, resume_job
from muniment.handover.repository import ArchiveRepository, Begun, DueRepository, Job
from muniment.handover.sidecar import InvalidSidecar
from muniment.handover.submission import OwnDocuments
from muniment.handover.tables import ArchiveAudit, Priority
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Waiting, list_waiting
from muniment.storage.objects.port import BlobNotFound

log = structlog.get_logger()

BATCH = 100
CANCELLING = timedelta(minutes=10)
"""Longer than whoever takes a job back needs to say so with a commit."""
LOST = "The queued file is missing and Muniment has no copy. Send the document again"


@dataclass(frozen=True)
class HandOverSweep:
    own: OwnDocuments

    @property
    def database(self) -> Database:
        return self.own.hand_over.database

    @property
    def stores(self) -> ArchiveStores:
        return self.own.hand_over.stores

    async def sweep(self) -> None:
        for organization_id in await list_waiting(self.database, Waiting.HAND_OVERS):
            await self.sweep_one(organization_id)

    async def sweep_one(self, organization_id: UUID) -> None:
        """Of one organization, as much as goes into one batch. A queue that does not answer is asked again later."""
        try:
            await self._carry_out_wishes(organization_id)
            await self._see_after(organization_id)
        except Unavailable as error:
            log.warning("archive.sweep_interrupted", organization_id=str(organization_id), error=error.message)

    async def _carry_out_wishes(self, organization_id: UUID) -> None:
        async with self.database.service_work(Service(organization_id)) as work:
            wishes = await DueRepository(work.session).list_wishes(limit=BATCH)
        for document_id in wishes:
            await self._hand_over(organization_id, document_id)

    async def _see_after(self, organization_id: UUID) -> None:
        async with self.database.service_work(Service(organization_id)) as work:
            await ArchiveRepository(work.session).settle_documents()
            due = await DueRepository(work.session).take_due(limit=BATCH)
        for row in due:
            await (self._repeat(row) if row.archive_status == ArchiveStatus.FAILED else self._look_for(row))

    async def _repeat(self, row: ArchiveAudit) -> None:
        """A hand-over that failed, of a document that may have been replaced or removed since."""
        if not await self._from_original(row):
            await self._give_up(row, None)
        elif await self.stores.queue.exists(key_of(row).sidecar):
            await delete_job(self.stores.dead_letters, key_of(row))  # where it lay, if it was one

    async def _look_for(self, row: ArchiveAudit) -> None:
        """Is what waits for the archiver really in the queue?"""
        key = key_of(row)
        has_sidecar, has_pdf = await self.stores.queue.exists(key.sidecar), await self.stores.queue.exists(key.pdf)
        if has_sidecar and has_pdf:
            await self._resume(key)
        elif await self._is_dead_letter(key):
            await self._give_up(row, None)
        elif await self._close(row):
            if not has_sidecar:  # the PDF of a hand-over that came between proof and delete
                await self.stores.queue.delete(key.pdf)
        elif not await self._from_original(row) and not has_sidecar:
            # A sidecar alone is the archiver's: it may have died between its two deletes.
            log.error("archive.lost_from_queue", job_id=key.pdf, document_id=str(row.bilko_document_id))
            await self._give_up(row, LOST)

    async def _resume(self, key: JobKey) -> None:
        found = await find_sidecar(self.stores.queue, key)
        if found is not None and found.cancelled_at is not None and found.cancelled_at < now() - CANCELLING:
            with suppress(BlobNotFound, InvalidSidecar):
                await resume_job(self.stores.queue, key)

    async def _is_dead_letter(self, key: JobKey) -> bool:
        letters = self.stores.dead_letters
        return await letters.exists(key.sidecar) or await letters.exists(key.pdf)

    async def _close(self, row: ArchiveAudit) -> bool:
        """With the copy that another row of the same bytes was proven by."""
        async with self.database.service_work(Service(row.organization_id)) as work:
            due = DueRepository(work.session)
            proven = await due.find_archived(row.sha256)
            if proven is None:
                return False
            await due.close(row.id, proven)
            await ArchiveRepository(work.session).settle_documents(key_of(row))
        return True

    async def _from_original(self, row: ArchiveAudit) -> bool:
        """Hand it over again from bytes that Muniment holds; `False` where it holds none."""
        async with self.database.service_work(Service(row.organization_id)) as work:
            due = DueRepository(work.session)
            document = await due.find_document(row.bilko_document_id, row.sha256)
            original = document or await due.find_original(row.sha256)
            name = await ArchiveRepository(work.session).organization_name(row.organization_id)
        if original is None:
            return False
        if document is not None:
            await self._hand_over(row.organization_id, document.id)
            return True
        job = Job(key_of(row), row.bilko_document_id, row.details, Priority(row.priority))
        begun = Begun(ArchiveStatus.PENDING, is_new=False, organization_name=name, at=row.created_at)
        with suppress(MunimentError):  # noted on the row
            await self.own.hand_over.put(
                job, begun, StoredContent(self.own.blobs, original.original_uri), is_repeated=True
            )
        return True

    async def _hand_over(self, organization_id: UUID, document_id: UUID) -> None:
        """What goes wrong stands on its row."""
        try:
            await self.own.carry_out(organization_id, document_id)
        except MunimentError as error:
            log.warning("archive.hand_over_failed", document_id=str(document_id), error=error.message)

    async def _give_up(self, row: ArchiveAudit, error: str | None) -> None:
        async with self.database.service_work(Service(row.organization_id)) as work:
            await DueRepository(work.session).give_up(row.id, error)
            await ArchiveRepository(work.session).settle_documents(key_of(row))


def key_of(row: ArchiveAudit) -> JobKey:
    key = JobKey.parse(row.r2_object_key)
    assert key is not None, "written by us, from a key"
    return key
