"""Turn a staged upload into a document, with its revision, run and audit event in one transaction."""

from dataclasses import dataclass
from uuid import UUID

from muniment.audit.events import DocumentUploaded
from muniment.audit.log import AuditLog
from muniment.documents.name_conflicts import (
    AutoCleared,
    DuplicateDocument,
    auto_clear,
    report_auto_clears,
    require_name_available,
)
from muniment.documents.names import name_key
from muniment.documents.quotas import Growth, Quotas, UploadRoom
from muniment.documents.repository import DocumentRepository, UploadRepository
from muniment.documents.staging import StagedUpload, Staging, UploadExpired
from muniment.documents.tables import Document, DocumentType, Status
from muniment.knowledge_bases.access import Access, get_access
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.ledger import Ledger, process_now
from muniment.storage.tasks.port import TaskQueue
from muniment.telemetry.metrics import UPLOAD_BYTES, UPLOADS


@dataclass(frozen=True)
class ReceivedDocument:
    """A new document, and the failed upload of its name that was cleared for it."""

    document: Document
    auto_cleared_id: UUID | None


class Intake:
    """Receives uploads: the bytes outside any transaction, the document inside one."""

    def __init__(self, database: Database, staging: Staging, ledger: Ledger, tasks: TaskQueue, quotas: Quotas) -> None:
        self._database = database
        self._ledger = ledger
        self._tasks = tasks
        self._quotas = quotas
        self.stage = staging.stage

    async def require_room(self, access: Access) -> UploadRoom | None:
        """Raise if a quota leaves no room for another document, before the first byte is read."""
        if self._quotas.is_unlimited:
            return None
        async with self._database.work(access.principal) as work:
            return await self._quotas.require_room(work, documents=1)

    async def receive(self, access: Access, staged: StagedUpload, document_type: DocumentType) -> ReceivedDocument:
        """Commit the document, then delete the data of a failed upload that was cleared for its name."""
        async with self._database.work(access.principal) as work:
            document, cleared = await receive(work, staged, access.kb.id, document_type, self._tasks)
            await self._quotas.enforce(work, Growth(staged.file_size, documents=1))
        UPLOADS.labels("accepted").inc()
        UPLOAD_BYTES.inc(staged.file_size)
        report_auto_clears(cleared, access.kb.id, access.principal.user_id)
        deletion_ids = [deletion_id for item in cleared for deletion_id in item.deletion_ids]
        await process_now(self._ledger, document.organization_id, deletion_ids)
        return ReceivedDocument(document, cleared[0].document_id if cleared else None)


async def receive(
    work: Work[Principal], staged: StagedUpload, kb_id: UUID, document_type: DocumentType, tasks: TaskQueue
) -> tuple[Document, list[AutoCleared]]:
    """Turn a staged upload into a document and queue its processing."""
    # The object is already stored: an object without a row is garbage, a row without its object is data loss.
    access = await get_access(work, kb_id)
    access.require_upload()  # again: the right may have been revoked during the upload
    access.require_not_being_deleted()
    if not await UploadRepository(work.session).claim(staged.upload_id):
        raise UploadExpired
    document = await _add_document(work, _new_document(staged, access, document_type))
    # Again: an active namesake may have been archived or have failed between the first check and the insert.
    failed_namesakes = await require_name_available(work, kb_id, document.name_key)
    cleared = [await auto_clear(work, namesake) for namesake in failed_namesakes]
    await AuditLog(work).record(
        DocumentUploaded(
            document.id, kb_id, document.name, revision=1, file_size=staged.file_size, sha256=staged.sha256
        )
    )
    await tasks.enqueue_run(work, document.id, document.epoch)
    return document, cleared


async def _add_document(work: Work[Principal], document: Document) -> Document:
    documents = DocumentRepository(work.session)
    # Before the insert, so that namesakes are locked before the name: a retry or restore takes the two in the same
    # order, which rules out a deadlock.
    try:
        await require_name_available(work, document.kb_id, document.name_key)
    except DuplicateDocument:
        if active := await documents.find_active(document.kb_id, document.name_key):
            raise DuplicateDocument(active) from None  # the document that users mean
        raise
    while (added := await documents.add_if_name_free(document)) is None:
        if existing := await documents.find_active(document.kb_id, document.name_key):
            raise DuplicateDocument(existing)
    return added


def _new_document(staged: StagedUpload, access: Access, document_type: DocumentType) -> Document:
    return Document(
        id=staged.document_id,
        organization_id=access.kb.organization_id,
        kb_id=access.kb.id,
        name=staged.name,
        name_key=name_key(staged.name),
        document_type=document_type,
        status=Status.PENDING,
        epoch=1,
        revision=1,
        media_type=staged.media_type.media_type,
        original_uri=staged.object_key,
        file_size=staged.file_size,
        sha256=staged.sha256,
        content_hmac=staged.content_key,
        uploaded_by=access.principal.user_id,
    )
