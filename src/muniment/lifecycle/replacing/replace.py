"""New bytes in the place of a document's old ones (specs/lifecycle.md). The document keeps its id, its type and what
people wrote on it; what it was stays in every store until the new bytes are read, so that it can be put back."""

from uuid import UUID

from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentReplaced
from muniment.audit.log import AuditLog
from muniment.documents.duplicates import Cleared, auto_clear
from muniment.documents.names import name_key
from muniment.documents.repository import UploadRepository
from muniment.documents.revisions import RevisionRepository
from muniment.documents.staging import StagedUpload, UploadExpired
from muniment.documents.tables import Document
from muniment.errors import Conflict
from muniment.lifecycle.moves import carry_out
from muniment.lifecycle.replacing.names import hold_with_name, require_name
from muniment.lifecycle.replacing.shelf import shelve
from muniment.lifecycle.rules import Move
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import Tasks

# `completed_at` stays: a failed document that once completed is not cleared away by an upload of its name.
# `index_epoch` stays: where an index holds copies, the old ones are kept under it until the new ones count.
UNREAD = dict.fromkeys(
    (
        "archived_at",
        "artifact_text_id",
        "last_error",
        "processing_status",
        "processing_errors",
        "processing_started_at",
        "processing_completed_at",
        "total_pages",
        "total_word_count",
        "text_extraction_method",
    )
)
NOT_HANDED_OVER = dict.fromkeys(("archive_status", "archive_job_id", "paperless_doc_url", "handed_over_at"))


class NameContested(Conflict):
    """Another document had this name at the same moment; try again"""


async def replace(
    work: Work[Principal], tasks: Tasks, staged: StagedUpload, kb_id: UUID
) -> tuple[Document, list[Cleared]]:
    """Turn staged bytes into the document's new revision and queue its processing; what made way for its name."""
    # Right and rule once more: much may have changed while the bytes came in.
    document, _ = await hold_with_name(work, Move.REPLACE, kb_id, staged.document_id, name=staged.name)
    if not await UploadRepository(work.session).take(staged.upload_id):
        raise UploadExpired
    await tasks.revoke_run(work, document.id, document.epoch)  # of the revision that waits, or a reread
    old_name, old_revision = document.name, document.revision
    await _take_place(work, document, staged)
    # Again: an active namesake may have been archived or have failed between the first look and the move.
    cleared = [await auto_clear(work, twin) for twin in await require_name(work, document, staged.name)]
    event = DocumentReplaced(
        document.id,
        kb_id,
        old_name,
        document.name,
        old_revision=old_revision,
        new_revision=document.revision,
        file_size=document.file_size,
        sha256=document.sha256,
    )
    await AuditLog(work).record(event)
    await tasks.enqueue_run(work, document.id, document.epoch)
    return document, cleared


async def _take_place(work: Work[Principal], document: Document, staged: StagedUpload) -> None:
    revisions = RevisionRepository(work.session)
    shelved = await shelve(work.session, document)
    columns = {
        **UNREAD,
        **NOT_HANDED_OVER,
        "epoch": document.epoch + 1,  # from the commit on no older worker's write is accepted
        "revision": await revisions.next_number(document.id),
        "name": staged.name,
        "name_key": name_key(staged.name),
        "media_type": staged.media_type.media_type,
        "original_uri": staged.blob_key,
        "file_size": staged.file_size,
        "sha256": staged.sha256,
        "content_hmac": staged.content_key,
        "uploaded_by": work.caller.user_id,
    }
    try:
        async with work.session.begin_nested():
            await carry_out(work.session, Move.REPLACE, document.id, document.epoch, **columns)
    except IntegrityError:  # a namesake came between our look and the move: the constraint decides
        await require_name(work, document, staged.name)
        raise NameContested from None
    await work.session.refresh(document)
    await revisions.add(document, shelved)
