"""Cancel queued jobs before their document is purged, and delete queued objects for the ledger."""

from dataclasses import dataclass
from uuid import UUID

from muniment.documents.handover_status import HandoverStatus
from muniment.handover.job_key import JobKey
from muniment.handover.queue import (
    HandoverStores,
    UploadAlreadyStarted,
    cancel_job,
    delete_job,
    find_sidecar,
    remove_document_name,
)
from muniment.handover.repository import HandoverRepository
from muniment.handover.sidecar import Sidecar
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import DeletionResult, ObjectStillExists
from muniment.storage.deletions.tables import LedgerEntry, LedgerStore
from muniment.storage.objects.port import VersionedObjectStore


@dataclass(frozen=True)
class HandoverCancellation:
    """Cancels queued jobs: the implementation of `documents.handovers.Handovers`."""

    database: Database
    stores: HandoverStores

    async def cancel(self, organization_id: UUID, document_id: UUID, job_id: str) -> None:
        """Cancel the job, unless someone else waits for it. Raise `UploadAlreadyStarted` if it is too late."""
        key = JobKey.parse(job_id)
        if key is None:
            return
        async with self.database.service_work(Service(organization_id)) as work:
            records = HandoverRepository(work.session)
            if await records.has_other_waiting(key, [HandoverStatus.PENDING], except_document_id=document_id):
                return
            if await _is_of_other_producer(records, self.stores.queue, key, document_id):
                return
            name = await records.get_organization_name(organization_id)
        await cancel_job(self.stores.queue, _build_placeholder(key, document_id, name), now())


@dataclass(frozen=True)
class QueuedJobDeleter:
    """Deletes jobs of one of the two stores for the deletion ledger."""

    database: Database
    store: VersionedObjectStore
    keep_for_status: HandoverStatus
    """Status of other documents for which a job in this store is kept."""

    async def delete(self, entry: LedgerEntry) -> DeletionResult:
        """Delete the job, unless another document waits for it or the archiver has started its upload."""
        key = JobKey.parse(entry.target)
        if key is None or entry.document_id is None:
            raise ValueError(f"not a job: {entry.target!r}")
        async with self.database.service_work(Service(entry.organization_id)) as work:
            records = HandoverRepository(work.session)
            has_others = await records.has_other_waiting(
                key, [self.keep_for_status], except_document_id=entry.document_id
            ) or await _is_of_other_producer(records, self.store, key, entry.document_id)
            if has_others:
                await records.delete_unarchived(entry.document_id, key)
            name = await records.get_organization_name(entry.organization_id)
        if has_others:
            await remove_document_name(self.store, key, entry.document_id)
            return DeletionResult(was_retained=True)
        if not await self._cancel_if_queued(key, entry.document_id, name):
            return DeletionResult(was_retained=True)
        if not await delete_job(self.store, key):
            raise ObjectStillExists
        async with self.database.service_work(Service(entry.organization_id)) as work:
            await HandoverRepository(work.session).delete_unarchived(entry.document_id, key)
        return DeletionResult()

    async def _cancel_if_queued(self, key: JobKey, document_id: UUID, organization_name: str) -> bool:
        """Cancel a queued job, so that no document joins it. Return False if its upload has started.

        Dead letters need no cancellation: no document joins them.
        """
        if self.keep_for_status is not HandoverStatus.PENDING:
            return True
        try:
            await cancel_job(self.store, _build_placeholder(key, document_id, organization_name), now())
        except UploadAlreadyStarted:
            return False
        return True


def build_queue_deleters(database: Database, stores: HandoverStores) -> dict[LedgerStore, QueuedJobDeleter]:
    return {
        LedgerStore.QUEUE: QueuedJobDeleter(database, stores.queue, HandoverStatus.PENDING),
        LedgerStore.DEAD_LETTERS: QueuedJobDeleter(database, stores.dead_letters, HandoverStatus.FAILED),
    }


async def _is_of_other_producer(
    records: HandoverRepository, store: VersionedObjectStore, key: JobKey, document_id: UUID
) -> bool:
    """Return whether another producer put the job there, without a record of ours: the document merely joined it."""
    sidecar = await find_sidecar(store, key)
    if sidecar is None or sidecar.bilko_document_id == document_id:
        return False
    return not await records.is_known(sidecar.bilko_document_id, key)


def _build_placeholder(key: JobKey, document_id: UUID, organization_name: str) -> Sidecar:
    return Sidecar(
        organization_id=key.organization_id,
        organization_name=organization_name,
        document_type=key.document_type,
        bilko_document_id=document_id,
        timestamp=now(),
        sha256=key.sha256,
    )
