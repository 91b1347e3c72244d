"""Dead letters: requeue or discard them on request, expire those whose original exists, and report the others."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from muniment.audit.events import DeadLetterDiscarded, DeadLetterExpired, DeadLetterRequeued
from muniment.audit.log import AuditLog
from muniment.documents.handover_status import ArchiveStatus
from muniment.errors import NotFound, Refused, Unavailable
from muniment.handover.content import HashDiffers, QueuedContent
from muniment.handover.job_key import JobKey
from muniment.handover.queue import ArchiveStores, delete_job, find_sidecar, put_job
from muniment.handover.queue_listing import ListedJob, list_jobs
from muniment.handover.repository import ArchiveRepository, Begun, DueRepository, Job
from muniment.handover.sidecar import Sidecar
from muniment.handover.submission import sidecar_of
from muniment.storage.db.base import now
from muniment.storage.db.principal import Asker, Service
from muniment.storage.db.work import Database, Work, list_organizations
from muniment.storage.objects.port import BlobNotFound, Blobs
from muniment.telemetry.metrics import DEAD_LETTERS_UNSAVED


class DeadLetterNotFound(NotFound):
    """Dead letter not found"""


class CannotBeRequeued(Refused):
    """This dead letter cannot be requeued"""


@dataclass(frozen=True)
class DeadLetters:
    database: Database
    stores: ArchiveStores

    async def requeue(self, key: JobKey, asker: Asker) -> None:
        """Put it back with its count reset; its rows wait again. It leaves the dead letters when it is in the queue."""
        letters = self.stores.dead_letters
        await self._require_there(key)
        if not await letters.exists(key.pdf):
            raise CannotBeRequeued("The PDF is missing. This dead letter can only be discarded")
        found = await find_sidecar(letters, key)
        async with self.database.service_work(asker.within(key.organization_id)) as work:
            sidecar = await self._sidecar(work, key, found)
            await ArchiveRepository(work.session).await_again(key)
            await AuditLog(work).record(DeadLetterRequeued(key.pdf))
        try:
            await put_job(self.stores.queue, sidecar, QueuedContent(letters, key.pdf))
        except HashDiffers:
            raise CannotBeRequeued("The PDF is damaged. This dead letter can only be discarded") from None
        await delete_job(letters, key)

    async def discard(self, key: JobKey, asker: Asker) -> None:
        """Delete it for good, as somebody decided; its rows stay failed."""
        await self._require_there(key)
        async with self.database.service_work(asker.within(key.organization_id)) as work:
            await AuditLog(work).record(DeadLetterDiscarded(key.pdf))
        await delete_job(self.stores.dead_letters, key)

    async def _require_there(self, key: JobKey) -> None:
        letters = self.stores.dead_letters
        if not (await letters.exists(key.pdf) or await letters.exists(key.sidecar)):
            raise DeadLetterNotFound

    async def _sidecar(self, work: Work[Service], key: JobKey, found: Sidecar | None) -> Sidecar:
        """As its producer wrote it; where that cannot be read, as we would have."""
        archive = ArchiveRepository(work.session)
        name = await archive.organization_name(key.organization_id)
        if found is not None and found.key == key:
            return anew(found)
        row = await archive.find_of_key(key)
        if row is None:
            raise CannotBeRequeued("The sidecar cannot be read, and Muniment has no matching document")
        begun = Begun(ArchiveStatus.PENDING, is_new=False, organization_name=name, at=row.created_at)
        return sidecar_of(Job(key, row.bilko_document_id, row.details), begun)


def anew(sidecar: Sidecar) -> Sidecar:
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


REMINDED_AFTER = timedelta(days=5)


@dataclass(frozen=True)
class DeadLetterSweep:
    database: Database
    stores: ArchiveStores
    blobs: Blobs

    async def expire(self) -> None:
        """Delete what is over its time and can be handed over again; count what only exists here."""
        unsaved = 0
        try:
            async for job, is_held in self._older_than(REMINDED_AFTER):
                if not is_held:
                    unsaved += 1
                elif job.since < now() - LIFETIME:
                    await self._delete(job)
        except Unavailable as error:  # looked at again in a moment; until then the gauge says that nobody knows
            log.warning("archive.dead_letters_unreachable", error=error.message)
            return
        DEAD_LETTERS_UNSAVED.set(unsaved)

    async def remind(self) -> None:
        """Once a day, of those that nobody can hand over again: they stay until they are requeued or discarded."""
        async for job, is_held in self._older_than(REMINDED_AFTER):
            if not is_held:
                log.error("archive.dead_letter_unsaved", job_id=job.key.pdf, since=job.since.isoformat())

    async def _older_than(self, age: timedelta) -> AsyncIterator[tuple[ListedJob, bool]]:
        """With whether Muniment holds the original."""
        known, before = set(await list_organizations(self.database)), now() - age
        async for job in list_jobs(self.stores.dead_letters):
            if job.since < before:
                yield job, job.key.organization_id in known and await self._is_held(job)

    async def _is_held(self, job: ListedJob) -> bool:
        async with self.database.service_work(Service(job.key.organization_id)) as work:
            original = await DueRepository(work.session).find_original(job.key.sha256)
        if original is None:
            return False
        try:
            return await self.blobs.size_bytes(original.original_uri) == original.file_size
        except BlobNotFound:
            return False

    async def _delete(self, job: ListedJob) -> None:
        async with self.database.service_work(Service(job.key.organization_id)) as work:
            await AuditLog(work).record(DeadLetterExpired(job.key.pdf))
        await delete_job(self.stores.dead_letters, job.key)
        log.info("archive.dead_letter_expired", job_id=job.key.pdf, since=job.since.isoformat())
