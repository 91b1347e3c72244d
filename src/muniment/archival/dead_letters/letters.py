"""Dead letters: what the archiver could not archive goes back into the queue, or away, on somebody's word."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from muniment.archival.asker import Asker
from muniment.archival.content import Content, HashDiffers
from muniment.archival.hand_over import sidecar_of
from muniment.archival.keys import JobKey
from muniment.archival.queue import delete_job, find_sidecar, put_job
from muniment.archival.repository import ArchiveRepository, Begun, Job
from muniment.archival.sidecar import Sidecar
from muniment.archival.stores import ArchiveStores, QueueStore
from muniment.archival.tables import ArchiveStatus
from muniment.audit.events import DeadLetterDiscarded, DeadLetterRequeued
from muniment.audit.log import AuditLog
from muniment.errors import NotFound, Refused
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work


class DeadLetterNotFound(NotFound):
    """There is no such dead letter"""


class CannotBeRequeued(Refused):
    """This dead letter cannot go back into the queue"""


@dataclass(frozen=True)
class QueuedContent(Content):
    store: QueueStore
    key: str

    def pieces(self) -> AsyncIterator[bytes]:
        return self.store.read(self.key)


@dataclass(frozen=True)
class DeadLetters:
    database: Database
    stores: ArchiveStores

    async def requeue(self, key: JobKey, asker: Asker) -> None:
        """Put it back with its count reset; its rows wait again. It leaves the dead letters when it is in the queue."""
        letters = self.stores.dead_letters
        await self._require_there(key)
        if not await letters.exists(key.pdf):
            raise CannotBeRequeued("The PDF is missing: this dead letter can only be discarded")
        found = await find_sidecar(letters, key)
        async with self.database.service_work(asker.within(key.organization_id)) as work:
            sidecar = await self._sidecar(work, key, found)
            await ArchiveRepository(work.session).await_again(key)
            await AuditLog(work).record(DeadLetterRequeued(key.pdf))
        try:
            await put_job(self.stores.queue, sidecar, QueuedContent(letters, key.pdf))
        except HashDiffers:
            raise CannotBeRequeued("The PDF is damaged: this dead letter can only be discarded") from None
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
            raise CannotBeRequeued("Its sidecar cannot be read, and Muniment knows no document of it")
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
