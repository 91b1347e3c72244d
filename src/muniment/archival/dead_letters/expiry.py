"""Dead letters expire only where Muniment still holds the original; the others are somebody's to decide about."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import structlog

from muniment.archival.dead_letters.jobs import ListedJob, list_jobs
from muniment.archival.due_repository import DueRepository
from muniment.archival.queue import delete_job
from muniment.archival.stores import ArchiveStores
from muniment.audit.events import DeadLetterExpired
from muniment.audit.log import AuditLog
from muniment.errors import Unavailable
from muniment.storage.blobs.port import BlobNotFound, Blobs
from muniment.storage.db.base import now
from muniment.storage.db.organizations import list_organizations
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.telemetry.metrics import DEAD_LETTERS_UNSAVED

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
