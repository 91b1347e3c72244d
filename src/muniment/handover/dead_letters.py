"""Dead letters: requeue or discard them on request, expire those whose original exists, and report the others."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from muniment.audit.events import DeadLetterDiscarded, DeadLetterEvent, DeadLetterExpired, DeadLetterRequeued
from muniment.audit.log import AuditLog
from muniment.documents.handover_status import HandoverStatus
from muniment.documents.originals import Original
from muniment.errors import Refused, Unavailable
from muniment.handover.content import ChecksumMismatch, DeadLetterContent, compute_sha256
from muniment.handover.job_key import JobKey
from muniment.handover.queue import HandoverStores, delete_job, enqueue, find_sidecar
from muniment.handover.queue_listing import DeadLetterNotFound, QueueEntry, list_jobs
from muniment.handover.repository import HandoverJob, HandoverRepository, OpenedRecord
from muniment.handover.sidecar import Sidecar
from muniment.handover.submission import build_sidecar
from muniment.storage.db.base import now
from muniment.storage.db.principal import Actor, Service
from muniment.storage.db.work import Database, Work, list_organizations
from muniment.storage.objects.port import ObjectNotFound, ObjectStore
from muniment.telemetry.metrics import DEAD_LETTERS_UNSAVED

log = structlog.get_logger()

LIFETIME = timedelta(days=7)
"""Time after which a dead letter is deleted if Muniment has its original."""
REMINDER_AFTER = timedelta(days=5)


class NotRequeueable(Refused):
    """This dead letter cannot be requeued"""


class PdfDamaged(NotRequeueable):
    """The PDF is damaged. This dead letter can only be discarded"""


@dataclass(frozen=True)
class DeadLetterService:
    """Requeues and discards dead letters on request."""

    database: Database
    stores: HandoverStores

    async def requeue(self, key: JobKey, actor: Actor) -> None:
        """Put a dead letter back into the queue with its attempts reset, then delete it from the dead letters."""
        dead_letters = self.stores.dead_letters
        await self._require_exists(key)
        if not await dead_letters.exists(key.pdf):
            raise NotRequeueable("The PDF is missing. This dead letter can only be discarded")
        content = DeadLetterContent(dead_letters, key.pdf)
        if await compute_sha256(content) != key.sha256:  # before anything is recorded about the requeue
            raise PdfDamaged
        stored = await find_sidecar(dead_letters, key)
        async with self.database.service_work(actor.as_service(key.organization_id)) as work:
            sidecar = await self._build_sidecar(work, key, stored)
            await _record_event(work, key, DeadLetterRequeued)
            await HandoverRepository(work.session).reset_failed(key)
        try:
            await enqueue(self.stores.queue, sidecar, content)
        except ChecksumMismatch:
            raise PdfDamaged from None
        await delete_job(dead_letters, key)

    async def discard(self, key: JobKey, actor: Actor) -> None:
        """Permanently delete a dead letter. Its records stay failed."""
        await self._require_exists(key)
        async with self.database.service_work(actor.as_service(key.organization_id)) as work:
            await _record_event(work, key, DeadLetterDiscarded)
        await delete_job(self.stores.dead_letters, key)

    async def _require_exists(self, key: JobKey) -> None:
        dead_letters = self.stores.dead_letters
        if not (await dead_letters.exists(key.pdf) or await dead_letters.exists(key.sidecar)):
            raise DeadLetterNotFound

    async def _build_sidecar(self, work: Work[Service], key: JobKey, stored: Sidecar | None) -> Sidecar:
        """Return the sidecar of the producer, or build one from our record if it cannot be read."""
        records = HandoverRepository(work.session)
        name = await records.get_organization_name(key.organization_id)
        if stored is not None and stored.key == key:
            return without_attempt_state(stored)
        row = await records.find_latest_open(key)
        if row is None:
            raise NotRequeueable("The sidecar cannot be read, and Muniment has no matching document")
        record = OpenedRecord(HandoverStatus.PENDING, is_new=False, organization_name=name, submitted_at=row.created_at)
        return build_sidecar(HandoverJob(key, row.bilko_document_id, row.details), record)


async def _record_event(work: Work[Service], key: JobKey, event: type[DeadLetterEvent]) -> None:
    """Record the event for each document whose hand-over failed with this job, or without one if we know none."""
    for document_id in await HandoverRepository(work.session).list_failed_documents(key) or (None,):
        await AuditLog(work).record(event(key.pdf, document_id))


def without_attempt_state(sidecar: Sidecar) -> Sidecar:
    """Return the sidecar without what the archiver has recorded in it."""
    return replace(
        sidecar,
        retry_count=0,
        last_attempt_at=None,
        last_error=None,
        attempt_id=None,
        file_name=None,
        task_id=None,
        uploaded_at=None,
        cancelled_at=None,
    )


@dataclass(frozen=True)
class DeadLetterSweep:
    """Deletes dead letters whose original exists, and reports the others."""

    database: Database
    stores: HandoverStores
    objects: ObjectStore

    async def expire(self) -> None:
        """Delete old dead letters whose original Muniment has, and count those that exist nowhere else."""
        unsaved = 0
        try:
            async for job, has_original in self._iter_older_than(REMINDER_AFTER):
                if not has_original:
                    unsaved += 1
                elif job.last_modified_at < now() - LIFETIME:
                    if await self._has_original(job, verify=True):  # the letter may be the last good copy
                        await self._delete(job)
                    else:
                        unsaved += 1
        except Unavailable as error:  # tried again soon; until then the gauge expires
            log.warning("handover.dead_letters_unreachable", error=error.message)
            return
        DEAD_LETTERS_UNSAVED.set(unsaved)

    async def remind(self) -> None:
        """Log the dead letters that exist nowhere else. They stay until they are requeued or discarded."""
        async for job, has_original in self._iter_older_than(REMINDER_AFTER):
            if not has_original:
                log.error("archive.dead_letter_unsaved", job_id=job.key.pdf, since=job.last_modified_at.isoformat())

    async def _iter_older_than(self, age: timedelta) -> AsyncIterator[tuple[QueueEntry, bool]]:
        """Yield the old dead letters, each with whether Muniment has the original."""
        organizations, before = set(await list_organizations(self.database)), now() - age
        async for job in list_jobs(self.stores.dead_letters):
            if job.last_modified_at < before:
                yield job, job.key.organization_id in organizations and await self._has_original(job)

    async def _has_original(self, entry: QueueEntry, *, verify: bool = False) -> bool:
        async with self.database.service_work(Service(entry.key.organization_id)) as work:
            original = await HandoverRepository(work.session).find_original(entry.key.sha256)
        if original is None:
            return False
        if verify:
            return await Original.of(self.objects, original).is_intact()
        try:
            return await self.objects.size_bytes(original.original_uri) == original.file_size
        except ObjectNotFound:
            return False

    async def _delete(self, entry: QueueEntry) -> None:
        async with self.database.service_work(Service(entry.key.organization_id)) as work:
            await _record_event(work, entry.key, DeadLetterExpired)
        await delete_job(self.stores.dead_letters, entry.key)
        log.info("handover.dead_letter_expired", job_id=entry.key.pdf, since=entry.last_modified_at.isoformat())
