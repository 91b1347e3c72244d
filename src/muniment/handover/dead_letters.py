"""Dead letters: requeue or discard them on request, expire those whose original exists, and report the others."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from muniment.audit.events import DeadLetterDiscarded, DeadLetterExpired, DeadLetterRequeued
from muniment.audit.log import AuditLog
from muniment.documents.handover_status import HandoverStatus
from muniment.errors import Refused, Unavailable
from muniment.handover.content import ChecksumMismatch, DeadLetterContent
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


class NotRequeueable(Refused):
    """This dead letter cannot be requeued"""


@dataclass(frozen=True)
class DeadLetterService:
    database: Database
    stores: HandoverStores

    async def requeue(self, key: JobKey, actor: Actor) -> None:
        """Put it back with its count reset; its rows wait again. It leaves the dead letters when it is in the queue."""
        letters = self.stores.dead_letters
        await self._require_exists(key)
        if not await letters.exists(key.pdf):
            raise NotRequeueable("The PDF is missing. This dead letter can only be discarded")
        found = await find_sidecar(letters, key)
        async with self.database.service_work(actor.as_service(key.organization_id)) as work:
            sidecar = await self._build_sidecar(work, key, found)
            await HandoverRepository(work.session).reset_failed(key)
            await AuditLog(work).record(DeadLetterRequeued(key.pdf))
        try:
            await enqueue(self.stores.queue, sidecar, DeadLetterContent(letters, key.pdf))
        except ChecksumMismatch:
            raise NotRequeueable("The PDF is damaged. This dead letter can only be discarded") from None
        await delete_job(letters, key)

    async def discard(self, key: JobKey, actor: Actor) -> None:
        """Delete it for good, as somebody decided; its rows stay failed."""
        await self._require_exists(key)
        async with self.database.service_work(actor.as_service(key.organization_id)) as work:
            await AuditLog(work).record(DeadLetterDiscarded(key.pdf))
        await delete_job(self.stores.dead_letters, key)

    async def _require_exists(self, key: JobKey) -> None:
        letters = self.stores.dead_letters
        if not (await letters.exists(key.pdf) or await letters.exists(key.sidecar)):
            raise DeadLetterNotFound

    async def _build_sidecar(self, work: Work[Service], key: JobKey, found: Sidecar | None) -> Sidecar:
        """As its producer wrote it; where that cannot be read, as we would have."""
        archive = HandoverRepository(work.session)
        name = await archive.get_organization_name(key.organization_id)
        if found is not None and found.key == key:
            return without_attempt_state(found)
        row = await archive.find_latest_open(key)
        if row is None:
            raise NotRequeueable("The sidecar cannot be read, and Muniment has no matching document")
        begun = OpenedRecord(HandoverStatus.PENDING, is_new=False, organization_name=name, submitted_at=row.created_at)
        return build_sidecar(HandoverJob(key, row.bilko_document_id, row.details), begun)


def without_attempt_state(sidecar: Sidecar) -> Sidecar:
    """Without anything that the archiver noted."""
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


log = structlog.get_logger()


LIFETIME = timedelta(days=7)


REMINDER_AFTER = timedelta(days=5)


@dataclass(frozen=True)
class DeadLetterSweep:
    database: Database
    stores: HandoverStores
    blobs: ObjectStore

    async def expire(self) -> None:
        """Delete what is over its time and can be handed over again; count what only exists here."""
        unsaved = 0
        try:
            async for job, is_held in self._iter_older_than(REMINDER_AFTER):
                if not is_held:
                    unsaved += 1
                elif job.last_modified_at < now() - LIFETIME:
                    await self._delete(job)
        except Unavailable as error:  # looked at again in a moment; until then the gauge says that nobody knows
            log.warning("archive.dead_letters_unreachable", error=error.message)
            return
        DEAD_LETTERS_UNSAVED.set(unsaved)

    async def remind(self) -> None:
        """Once a day, of those that nobody can hand over again: they stay until they are requeued or discarded."""
        async for job, is_held in self._iter_older_than(REMINDER_AFTER):
            if not is_held:
                log.error("archive.dead_letter_unsaved", job_id=job.key.pdf, since=job.last_modified_at.isoformat())

    async def _iter_older_than(self, age: timedelta) -> AsyncIterator[tuple[QueueEntry, bool]]:
        """With whether Muniment holds the original."""
        known, before = set(await list_organizations(self.database)), now() - age
        async for job in list_jobs(self.stores.dead_letters):
            if job.last_modified_at < before:
                yield job, job.key.organization_id in known and await self._has_original(job)

    async def _has_original(self, entry: QueueEntry) -> bool:
        async with self.database.service_work(Service(entry.key.organization_id)) as work:
            original = await HandoverRepository(work.session).find_original(entry.key.sha256)
        if original is None:
            return False
        try:
            return await self.blobs.size_bytes(original.original_uri) == original.file_size
        except ObjectNotFound:
            return False

    async def _delete(self, entry: QueueEntry) -> None:
        async with self.database.service_work(Service(entry.key.organization_id)) as work:
            await AuditLog(work).record(DeadLetterExpired(entry.key.pdf))
        await delete_job(self.stores.dead_letters, entry.key)
        log.info("archive.dead_letter_expired", job_id=entry.key.pdf, since=entry.last_modified_at.isoformat())
