"""Submit a PDF for hand-over, from another application or from a document of ours (specs/archive-queue.md §3.1, §8.1).

The record is written first, then the PDF, then the sidecar. The archiver does the rest.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

import structlog
from sqlalchemy import select, update

from muniment.audit.events import DocumentHandedOver
from muniment.audit.log import AuditLog
from muniment.documents.handover_status import ArchiveStatus
from muniment.documents.media_types.types import PDF
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, DocumentType, Status
from muniment.errors import MunimentError, Refused, StorageFull, Unavailable
from muniment.handover.content import Content, HashDiffers, NotAPdf, StoredContent
from muniment.handover.job_key import JobKey, hyphenated, underscored
from muniment.handover.queue import ArchiveStores, put_job
from muniment.handover.repository import ArchiveRepository, Begun, Job
from muniment.handover.sidecar import Sidecar
from muniment.handover.tables import Priority
from muniment.lifecycle.engine import require_manager
from muniment.storage.db.advisory_locks import AdvisoryLocks, lock_of
from muniment.storage.db.principal import NOBODY, Asker, Principal, Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.port import BlobNotFound, Blobs

log = structlog.get_logger()


class QueueFailure(Unavailable):
    """Document archived pending. Retry in 5 minutes."""

    headers: ClassVar[Mapping[str, str]] = {"Retry-After": "300"}

    def __init__(self) -> None:
        super().__init__()
        self.body: Mapping[str, object] = {"error": self.message, "code": "ARCHIVE_QUEUE_FAILURE"}


@dataclass(frozen=True)
class SourceDoc:
    """A document of an application, with bytes that were seen to be a PDF of this hash."""

    organization_id: UUID
    document_id: UUID
    document_type: DocumentType
    content: Content
    sha256: str
    metadata: Mapping[str, str | None]
    """`invoiceNumber` and `contractId`, where it has them."""

    @property
    def key(self) -> JobKey:
        return JobKey(self.organization_id, hyphenated(self.document_type), self.sha256)


@dataclass(frozen=True)
class ArchiveOptions:
    priority: Priority = Priority.NORMAL


NORMAL = ArchiveOptions()


@dataclass(frozen=True)
class HandedOver:
    job_id: str
    status: ArchiveStatus


async def begin(work: Work[Service], job: Job, *, kb_id: UUID | None = None) -> Begun:
    """Note in the transaction of the caller that the document is on its way; nothing lies in the queue yet."""
    begun = await ArchiveRepository(work.session).begin(job)
    if begun.is_new:
        event = DocumentHandedOver(
            job.document_id, job.key.pdf, underscored(job.key.document_type), job.key.sha256, kb_id
        )
        await AuditLog(work).record(event)
    return begun


def sidecar_of(job: Job, begun: Begun) -> Sidecar:
    return Sidecar(
        organization_id=job.key.organization_id,
        organization_name=begun.organization_name,
        document_type=job.key.document_type,
        bilko_document_id=job.document_id,
        timestamp=begun.at.replace(microsecond=0),
        sha256=job.key.sha256,
        invoice_number=job.details.get("invoiceNumber"),
        contract_id=job.details.get("contractId"),
    )


@dataclass(frozen=True)
class HandOver:
    database: Database
    stores: ArchiveStores
    has_room: Callable[[], bool] = lambda: True
    """Whether the disk is above its floor."""

    async def archive(self, source: SourceDoc, options: ArchiveOptions = NORMAL, *, asker: Asker) -> HandedOver:
        """Row, then PDF, then sidecar; the same again changes nothing. `QueueFailure` when the queue cannot be written:
        then the row says so, and whoever asked asks again."""
        job = Job(source.key, source.document_id, dict(source.metadata), options.priority)
        async with self.database.service_work(asker.within(source.organization_id)) as work:
            begun = await begin(work, job)
        if begun.status is ArchiveStatus.PENDING:
            await self.put(job, begun, source.content, is_repeated=False)
        return HandedOver(job.key.pdf, begun.status)

    async def put(self, job: Job, begun: Begun, content: Content, *, is_repeated: bool) -> None:
        """Put a job that was begun into the queue, or note why not: the sweep repeats it if it is to be repeated."""
        try:
            if not self.has_room():
                raise StorageFull
            await put_job(self.stores.queue, sidecar_of(job, begun), content)
        except (Unavailable, StorageFull, BlobNotFound) as error:
            log.error("archive.queue_failed", job_id=job.key.pdf, error=error.message)
            await self._mark_failed(job, error, is_repeated=is_repeated)
            raise QueueFailure from error
        except HashDiffers as error:  # of an original of ours: trying again would not change it
            await self._mark_failed(job, error, is_repeated=False)
            raise

    async def _mark_failed(self, job: Job, error: MunimentError, *, is_repeated: bool) -> None:
        async with self.database.service_work(Service(job.key.organization_id)) as work:
            archive = ArchiveRepository(work.session)
            await archive.mark_failed(job.document_id, job.key, error.message, is_repeated=is_repeated)
            await archive.settle_documents(job.key)


READY = frozenset({Status.COMPLETED, Status.ARCHIVED})


class NotReady(Refused):
    """Only completed or archived documents can be sent to Paperless"""


class BeingRemoved(Unavailable):
    """The document is being deleted"""


@dataclass(frozen=True)
class OwnDocuments:
    hand_over: HandOver
    blobs: Blobs
    locks: AdvisoryLocks

    async def ask(self, caller: Principal, kb_id: UUID, document_id: UUID) -> HandedOver:
        """By its owner or an admin, whatever the policy is. `QueueFailure`: the sweep repeats it."""
        async with self.hand_over.database.work(caller) as work:
            await require_manager(work, kb_id)
            _require_ready(await DocumentRepository(work.session).get(kb_id, document_id))
        return await self.carry_out(caller.organization_id, document_id, asker=Asker.of(caller))

    async def carry_out(self, organization_id: UUID, document_id: UUID, *, asker: Asker = NOBODY) -> HandedOver:
        """Note it, then copy the original into the queue with no transaction open."""
        async with self._staying(document_id):
            async with self.hand_over.database.service_work(asker.within(organization_id)) as work:
                document = await _lock(work, document_id)
                job = _job_of(document)
                begun = await begin(work, job, kb_id=document.kb_id)
                await _note(work, document, job, begun)
            if begun.status is ArchiveStatus.PENDING:
                content = StoredContent(self.blobs, document.original_uri)
                await self.hand_over.put(job, begun, content, is_repeated=True)
        return HandedOver(job.key.pdf, begun.status)

    @asynccontextmanager
    async def _staying(self, document_id: UUID) -> AsyncIterator[None]:
        """Whoever proves the document gone waits for us, as for a worker in the midst of it (DESIGN §5.4)."""
        async with self.locks.attempt(lock_of(document_id), is_shared=True) as is_held:
            if not is_held:
                raise BeingRemoved
            yield


def _require_ready(document: Document) -> None:
    if document.status not in READY:
        raise NotReady
    if document.media_type != PDF.media_type:
        raise NotAPdf


def _job_of(document: Document) -> Job:
    return Job(
        JobKey(document.organization_id, hyphenated(document.document_type), document.sha256),
        document.id,
    )


async def _lock(work: Work[Service], document_id: UUID) -> Document:
    found = await work.session.scalar(
        select(Document).where(Document.id == document_id).with_for_update(key_share=True)
    )
    if found is None:
        raise DocumentNotFound
    _require_ready(found)
    return found


async def _note(work: Work[Service], document: Document, job: Job, begun: Begun) -> None:
    """From here on the document says where it waits; what was archived before says so at once."""
    await work.session.execute(
        update(Document)
        .where(Document.id == document.id)
        .values(archive_status=begun.status, archive_job_id=job.key.pdf)
        .execution_options(synchronize_session=False)
    )
    await ArchiveRepository(work.session).settle_documents(job.key)
