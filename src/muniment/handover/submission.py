"""Submit a PDF for hand-over, from another application or one of our documents (docs/contracts.md#handover-submission).

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
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.documents.handover_status import HandoverStatus
from muniment.documents.media_types.types import PDF
from muniment.documents.originals import Original, OriginalDamaged
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, DocumentType, Status
from muniment.errors import MunimentError, Refused, StorageFull, Unavailable
from muniment.handover.content import ChecksumMismatch, ContentSource, PdfRequired
from muniment.handover.job_key import JobKey, to_hyphens, to_underscores
from muniment.handover.queue import HandoverStores, enqueue
from muniment.handover.repository import HandoverJob, HandoverRepository, OpenedRecord
from muniment.handover.sidecar import Sidecar
from muniment.handover.tables import Priority
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound
from muniment.lifecycle.engine import require_manager
from muniment.storage.db.advisory_locks import AdvisoryLocks, document_lock_name
from muniment.storage.db.principal import SYSTEM_ACTOR, Actor, Principal, Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.port import ObjectNotFound, ObjectStore

log = structlog.get_logger()


class QueueWriteFailed(Unavailable):
    """Document archived pending. Retry in 5 minutes."""

    headers: ClassVar[Mapping[str, str]] = {"Retry-After": "300"}

    def __init__(self) -> None:
        super().__init__()
        self.body: Mapping[str, object] = {"error": self.message, "code": "ARCHIVE_QUEUE_FAILURE"}


@dataclass(frozen=True)
class HandoverRequest:
    """A document of another application. Its content was verified to be a PDF with this hash."""

    organization_id: UUID
    document_id: UUID
    document_type: DocumentType
    content: ContentSource
    sha256: str
    metadata: Mapping[str, str | None]
    """`invoiceNumber` and `contractId`, if given."""
    name: str | None = None

    @property
    def key(self) -> JobKey:
        return JobKey(self.organization_id, to_hyphens(self.document_type), self.sha256)


@dataclass(frozen=True)
class Submission:
    """Result of a submission."""

    job_id: str
    status: HandoverStatus


async def open_record(work: Work[Service], job: HandoverJob, *, kb_id: UUID | None = None) -> OpenedRecord:
    """Open the record of a hand-over in the caller's transaction, before anything is queued."""
    record = await HandoverRepository(work.session).open(job)
    if record.is_new:
        event = DocumentHandedOver(
            job.document_id, job.key.pdf, to_underscores(job.key.document_type), job.key.sha256, kb_id
        )
        await AuditLog(work).record(event)
    return record


def build_sidecar(job: HandoverJob, record: OpenedRecord) -> Sidecar:
    return Sidecar(
        organization_id=job.key.organization_id,
        organization_name=record.organization_name,
        document_type=job.key.document_type,
        bilko_document_id=job.document_id,
        timestamp=record.submitted_at.replace(microsecond=0),
        sha256=job.key.sha256,
        invoice_number=job.details.get("invoiceNumber"),
        contract_id=job.details.get("contractId"),
        document_name=job.name,
    )


@dataclass(frozen=True)
class SubmissionService:
    """Submits PDFs to the queue."""

    database: Database
    stores: HandoverStores
    has_room: Callable[[], bool] = lambda: True
    """Whether the disk has more free space than its minimum."""

    async def submit(
        self,
        request: HandoverRequest,
        *,
        priority: Priority = Priority.NORMAL,
        actor: Actor,
        belongs_to_document: bool = False,
    ) -> Submission:
        """Write the record, then the PDF, then the sidecar. Idempotent.

        Raise `QueueWriteFailed` if the queue cannot be written: the record says so, and the caller must try again.
        """
        job = HandoverJob(
            request.key, request.document_id, dict(request.metadata), priority, belongs_to_document, request.name
        )
        async with self.database.service_work(actor.as_service(request.organization_id)) as work:
            record = await open_record(work, job)
        if record.status is HandoverStatus.PENDING:
            await self.enqueue(job, record, request.content, will_retry=False)
        return Submission(job.key.pdf, record.status)

    async def enqueue(
        self, job: HandoverJob, record: OpenedRecord, content: ContentSource, *, will_retry: bool
    ) -> None:
        """Put a job into the queue, or record the error. With `will_retry` the sweep tries again."""
        try:
            if not self.has_room():
                raise StorageFull
            await enqueue(self.stores.queue, build_sidecar(job, record), content)
        except (Unavailable, StorageFull, ObjectNotFound) as error:
            log.error("handover.enqueue_failed", job_id=job.key.pdf, error=error.message)
            await self._mark_failed(job, error, will_retry=will_retry)
            raise QueueWriteFailed from error
        except (ChecksumMismatch, OriginalDamaged) as error:  # trying again would not help
            await self._mark_failed(job, error, will_retry=False)
            raise

    async def _mark_failed(self, job: HandoverJob, error: MunimentError, *, will_retry: bool) -> None:
        async with self.database.service_work(Service(job.key.organization_id)) as work:
            records = HandoverRepository(work.session)
            await records.mark_failed(job.document_id, job.key, error.message, will_retry=will_retry)
            await records.sync_document_status(job.key)


HANDOVER_STATUSES = frozenset({Status.COMPLETED, Status.ARCHIVED})


class DocumentNotReady(Refused):
    """Only completed or archived documents can be sent to Paperless"""


class DocumentBeingDeleted(Unavailable):
    """The document is being deleted"""


@dataclass(frozen=True)
class DocumentHandover:
    """Hands over documents of Muniment itself."""

    submissions: SubmissionService
    objects: ObjectStore
    locks: AdvisoryLocks

    async def request(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Submission:
        """Hand over a document for its owner or an admin. After `QueueWriteFailed` the sweep tries again."""
        async with self.submissions.database.work(caller) as work:
            await require_manager(work, kb_id)
            _require_ready(await DocumentRepository(work.session).get(kb_id, document_id))
        return await self.submit(caller.organization_id, document_id, actor=Actor.from_principal(caller))

    async def submit_for(self, caller: Principal, request: HandoverRequest, *, priority: Priority) -> Submission:
        """Submit a PDF of another application, which may name a document of ours.

        Only the document's owner or an admin may name it: the hand-over then belongs to the document, and its purge
        cancels it. Any other id is the application's own and means nothing here.
        """
        actor, document_id = Actor.from_principal(caller), request.document_id
        kb_id = await self._find_kb(request.organization_id, document_id)
        if kb_id is None:
            return await self.submissions.submit(request, priority=priority, actor=actor)
        async with self._hold_document(document_id):
            async with self.submissions.database.work(caller) as work:
                try:
                    await require_manager(work, kb_id)
                except KnowledgeBaseNotFound:
                    raise DocumentNotFound from None
                await DocumentRepository(work.session).get(kb_id, document_id)
            return await self.submissions.submit(request, priority=priority, actor=actor, belongs_to_document=True)

    async def _find_kb(self, organization_id: UUID, document_id: UUID) -> UUID | None:
        """Return the knowledge base of a document of the organization, or raise `DocumentNotFound` if it was purged."""
        async with self.submissions.database.service_work(Service(organization_id)) as work:
            kb_id: UUID | None = await work.session.scalar(select(Document.kb_id).where(Document.id == document_id))
            if kb_id is None and await ReceiptRepository(work.session).exists(document_id):
                raise DocumentNotFound
        return kb_id

    async def submit(self, organization_id: UUID, document_id: UUID, *, actor: Actor = SYSTEM_ACTOR) -> Submission:
        """Open the record, then copy the original to the queue outside any transaction."""
        async with self._hold_document(document_id):
            async with self.submissions.database.service_work(actor.as_service(organization_id)) as work:
                document = await _get_locked(work, document_id)
                job = _build_job(document)
                record = await open_record(work, job, kb_id=document.kb_id)
                await _record_on_document(work, document, job, record)
            if record.status is HandoverStatus.PENDING:
                content = Original.of(self.objects, document)
                await self.submissions.enqueue(job, record, content, will_retry=True)
        return Submission(job.key.pdf, record.status)

    @asynccontextmanager
    async def _hold_document(self, document_id: UUID) -> AsyncIterator[None]:
        """Hold the document's lock, shared, so that a purge waits for us (docs/design.md#document-lock)."""
        async with self.locks.try_acquire(document_lock_name(document_id), is_shared=True) as is_held:
            if not is_held:
                raise DocumentBeingDeleted
            yield


def _require_ready(document: Document) -> None:
    if document.status not in HANDOVER_STATUSES:
        raise DocumentNotReady
    if document.media_type != PDF.media_type:
        raise PdfRequired


def _build_job(document: Document) -> HandoverJob:
    return HandoverJob(
        JobKey(document.organization_id, to_hyphens(document.document_type), document.sha256),
        document.id,
        belongs_to_document=True,
        name=document.name,
    )


async def _get_locked(work: Work[Service], document_id: UUID) -> Document:
    document = await work.session.scalar(
        select(Document).where(Document.id == document_id).with_for_update(key_share=True)
    )
    if document is None:
        raise DocumentNotFound
    _require_ready(document)
    return document


async def _record_on_document(work: Work[Service], document: Document, job: HandoverJob, record: OpenedRecord) -> None:
    """Store the job and its status on the document."""
    await work.session.execute(
        update(Document)
        .where(Document.id == document.id)
        .values(archive_status=record.status, archive_job_id=job.key.pdf)
        .execution_options(synchronize_session=False)
    )
    await HandoverRepository(work.session).sync_document_status(job.key)
