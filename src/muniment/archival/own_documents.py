"""Documents of ours go to the archive: by the policy of their knowledge base, or because somebody asked for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select, update

from muniment.archival.asker import NOBODY, Asker
from muniment.archival.content import NotAPdf, StoredContent
from muniment.archival.hand_over import HandedOver, HandOver, begin
from muniment.archival.keys import JobKey, hyphenated
from muniment.archival.repository import ArchiveRepository, Begun, Job
from muniment.archival.tables import ArchiveStatus
from muniment.documents.media_types import PDF
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.errors import Refused, Unavailable
from muniment.lifecycle.permission import require_manager
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.locks import AdvisoryLocks, lock_of
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Work

READY = frozenset({Status.COMPLETED, Status.ARCHIVED})


class NotReady(Refused):
    """Only completed or archived documents can be handed over"""


class BeingRemoved(Unavailable):
    """The document is just being removed"""


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
