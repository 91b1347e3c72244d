"""Replace the content of a document (specs/lifecycle.md).

The document keeps its id, its type and its annotations. What it was stays in every store until the new content has been
processed, so that the replacement can be reverted.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import structlog
from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentReplaced
from muniment.audit.log import AuditLog
from muniment.documents.name_conflicts import Cleared, auto_clear, require_name
from muniment.documents.names import name_key
from muniment.documents.repository import DocumentRepository, RevisionRepository, UploadRepository
from muniment.documents.staging import StagedUpload, Staging, UploadExpired
from muniment.documents.tables import Document, Status
from muniment.errors import Conflict, MunimentError
from muniment.knowledge_bases.access import Access
from muniment.lifecycle.engine import Mover, hold_with_name, require_mover
from muniment.lifecycle.moves.revert import revert
from muniment.lifecycle.observability import measured, moved
from muniment.lifecycle.revision_snapshots import shelve
from muniment.lifecycle.rules import Move, target
from muniment.lifecycle.status import carry_out
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.tasks.port import Tasks
from muniment.telemetry.metrics import UPLOAD_BYTES, UPLOADS

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
    """Another document has just taken this name. Try again"""


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


log = structlog.get_logger()


@dataclass(frozen=True)
class Place:
    """A document whose content the caller may replace at this moment."""

    access: Access
    document_id: UUID


class Replacing:
    def __init__(self, mover: Mover, staging: Staging, ledger: Ledger) -> None:
        self._mover = mover
        self._staging = staging
        self._ledger = ledger

    async def find_place(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Place:
        """Right and rule, asked before the first byte is read."""
        async with self._mover.database.work(caller) as work:
            return Place(await _permit(work, kb_id, document_id), document_id)

    def stage(
        self, place: Place, name: str, chunks: AsyncIterator[bytes], *, now: datetime
    ) -> AbstractAsyncContextManager[StagedUpload]:
        """The block receives the bytes or raises; if it raises, the document stands as before and nothing is left."""
        permit = partial(_permit, kb_id=place.access.kb.id, document_id=place.document_id)
        return self._staging.stage_revision(place.access, place.document_id, permit, name=name, chunks=chunks, now=now)

    async def receive(self, place: Place, staged: StagedUpload) -> Document:
        """Commit the new revision; a failed twin of its name that made way is erased after."""
        caller, kb_id = place.access.principal, place.access.kb.id
        under_way = measured("replace", kb_id=kb_id, document_id=place.document_id, user_id=caller.user_id)
        async with under_way, self._mover.database.work(caller) as work:
            document, cleared = await replace(work, self._mover.tasks, staged, kb_id)
        moved(Move.REPLACE, kb_id, caller.user_id)
        for _ in cleared:
            moved(Move.CLEAR, kb_id, caller.user_id, auto=True)
        UPLOADS.labels("accepted").inc()
        UPLOAD_BYTES.inc(staged.file_size)
        await self._erase(document, [deletion_id for item in cleared for deletion_id in item.deletion_ids])
        return document

    async def revert(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Document:
        """Bring the last readable revision back; the bytes that could not be read are erased after."""
        async with measured("revert", kb_id=kb_id, document_id=document_id, user_id=caller.user_id):
            document, deletion_ids = await revert(self._mover, caller, kb_id, document_id)
        moved(Move.REVERT, kb_id, caller.user_id)
        await self._erase(document, deletion_ids)
        return document

    async def _erase(self, document: Document, deletion_ids: Sequence[UUID]) -> None:
        if not deletion_ids:
            return
        try:
            await self._ledger.carry_out(document.organization_id, deletion_ids)
        except MunimentError as error:  # the move itself is safe; the sweep finishes the rest
            log.warning("replacing.erase_failed", document_id=str(document.id), error=error.message)


async def _permit(work: Work[Principal], kb_id: UUID, document_id: UUID) -> Access:
    access = await require_mover(work, Move.REPLACE, kb_id)
    document = await DocumentRepository(work.session).get(kb_id, document_id)
    target(Move.REPLACE, Status(document.status))
    return access
