"""Cancel queued jobs before their document is purged, and delete queued objects for the ledger."""

from dataclasses import dataclass
from uuid import UUID

from muniment.documents.handover_status import ArchiveStatus
from muniment.handover.job_key import JobKey
from muniment.handover.queue import ArchiverHasBegun, ArchiveStores, cancel_job, delete_job
from muniment.handover.repository import ArchiveRepository
from muniment.handover.sidecar import Sidecar
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import Erased, StillThere
from muniment.storage.deletions.tables import Deletion, Store
from muniment.storage.objects.port import QueueStore


@dataclass(frozen=True)
class QueueWithdrawal:
    """Carries out `lifecycle.removal.hand_over.Withdrawal`."""

    database: Database
    stores: ArchiveStores

    async def withdraw(self, organization_id: UUID, document_id: UUID, job_id: str) -> None:
        """Nobody archives or joins this job any more, unless another document waits for it. `ArchiverHasBegun`."""
        key = JobKey.parse(job_id)
        if key is None:
            return
        async with self.database.service_work(Service(organization_id)) as work:
            archive = ArchiveRepository(work.session)
            if await archive.is_waited_for(key, [ArchiveStatus.PENDING], besides=document_id):
                return
            name = await archive.organization_name(organization_id)
        await cancel_job(self.stores.queue, _mark(key, document_id, name), now())


@dataclass(frozen=True)
class QueueEraser:
    """Carries out the ledger's lines for one of the two stores."""

    database: Database
    store: QueueStore
    waiting: ArchiveStatus
    """Of those for whom a job in this store is kept."""

    async def erase(self, line: Deletion) -> Erased:
        """Delete the job, but for one that another document waits for or that the archiver has begun with."""
        key = JobKey.parse(line.target)
        if key is None or line.document_id is None:
            raise ValueError(f"not a job: {line.target!r}")
        async with self.database.service_work(Service(line.organization_id)) as work:
            archive = ArchiveRepository(work.session)
            if await archive.is_waited_for(key, [self.waiting], besides=line.document_id):
                await archive.forget(line.document_id, key)
                return Erased(was_kept=True)
            name = await archive.organization_name(line.organization_id)
        if not await self._take(key, line.document_id, name):
            return Erased(was_kept=True)
        if not await delete_job(self.store, key):
            raise StillThere
        async with self.database.service_work(Service(line.organization_id)) as work:
            await ArchiveRepository(work.session).forget(line.document_id, key)
        return Erased()

    async def _take(self, key: JobKey, document_id: UUID, organization_name: str) -> bool:
        """Nobody joins what is about to go. Dead letters are joined by nobody."""
        if self.waiting is not ArchiveStatus.PENDING:
            return True
        try:
            await cancel_job(self.store, _mark(key, document_id, organization_name), now())
        except ArchiverHasBegun:
            return False
        return True


def queue_erasers(database: Database, stores: ArchiveStores) -> dict[Store, QueueEraser]:
    return {
        Store.QUEUE: QueueEraser(database, stores.queue, ArchiveStatus.PENDING),
        Store.DEAD_LETTERS: QueueEraser(database, stores.dead_letters, ArchiveStatus.FAILED),
    }


def _mark(key: JobKey, document_id: UUID, organization_name: str) -> Sidecar:
    return Sidecar(
        organization_id=key.organization_id,
        organization_name=organization_name,
        document_type=key.document_type,
        bilko_document_id=document_id,
        timestamp=now(),
        sha256=key.sha256,
    )
