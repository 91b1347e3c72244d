"""Handing a PDF over to the archive: one call, and the rest is the archiver's (specs/archive-queue.md §3.1, §8.1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

import structlog

from muniment.archival.asker import Asker
from muniment.archival.content import Content, HashDiffers
from muniment.archival.keys import JobKey, hyphenated, underscored
from muniment.archival.queue import put_job
from muniment.archival.repository import ArchiveRepository, Begun, Job
from muniment.archival.sidecar import Sidecar
from muniment.archival.stores import ArchiveStores
from muniment.archival.tables import ArchiveStatus, Priority
from muniment.audit.events import DocumentHandedOver
from muniment.audit.log import AuditLog
from muniment.documents.tables import DocumentType
from muniment.errors import MunimentError, StorageFull, Unavailable
from muniment.storage.blobs.port import BlobNotFound
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work

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
