"""Replace the content of a document (docs/contracts.md#replace).

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
from muniment.documents.name_conflicts import AutoCleared, auto_clear, require_name_available_for
from muniment.documents.names import name_key
from muniment.documents.repository import DocumentRepository, RevisionRepository, UploadRepository
from muniment.documents.staging import StagedUpload, Staging, UploadExpired
from muniment.documents.tables import Document, Status
from muniment.errors import Conflict, MunimentError
from muniment.knowledge_bases.access import Access
from muniment.lifecycle.engine import MoveEngine, permit_locked_with_name, require_move_access
from muniment.lifecycle.moves.revert import revert
from muniment.lifecycle.observability import count_move, observe
from muniment.lifecycle.revision_snapshots import take_snapshot
from muniment.lifecycle.rules import Move, resolve_target
from muniment.lifecycle.status import change_status
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.tasks.port import TaskQueue
from muniment.telemetry.metrics import UPLOAD_BYTES, UPLOADS

# `completed_at` stays: a failed document that once completed is not cleared away by an upload of its name.
# `index_epoch` stays: where an index holds copies, the old ones are kept under it until the new ones count.
PROCESSING_RESET = dict.fromkeys(
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


HANDOVER_RESET = dict.fromkeys(("archive_status", "archive_job_id", "paperless_doc_url", "handed_over_at"))


class NameTakenConcurrently(Conflict):
    """Another document has just taken this name. Try again"""

    code = "NameContested"


async def replace(
    work: Work[Principal], tasks: TaskQueue, staged: StagedUpload, kb_id: UUID
) -> tuple[Document, list[AutoCleared]]:
    """Turn staged bytes into the document's new revision and queue its processing; what made way for its name."""
    # Right and rule once more: much may have changed while the bytes came in.
    document, _ = await permit_locked_with_name(work, Move.REPLACE, kb_id, staged.document_id, name=staged.name)
    if not await UploadRepository(work.session).claim(staged.upload_id):
        raise UploadExpired
    await tasks.revoke_run(work, document.id, document.epoch)  # of the revision that waits, or a reread
    old_name, old_revision = document.name, document.revision
    await _write_new_revision(work, document, staged)
    # Again: an active namesake may have been archived or have failed between the first look and the move.
    cleared = [await auto_clear(work, twin) for twin in await require_name_available_for(work, document, staged.name)]
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


async def _write_new_revision(work: Work[Principal], document: Document, staged: StagedUpload) -> None:
    revisions = RevisionRepository(work.session)
    shelved = await take_snapshot(work.session, document)
    columns = {
        **PROCESSING_RESET,
        **HANDOVER_RESET,
        "epoch": document.epoch + 1,  # from the commit on no older worker's write is accepted
        "revision": await revisions.next_revision(document.id),
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
            await change_status(work.session, Move.REPLACE, document.id, document.epoch, **columns)
    except IntegrityError:  # a namesake came between our look and the move: the constraint decides
        await require_name_available_for(work, document, staged.name)
        raise NameTakenConcurrently from None
    await work.session.refresh(document)
    await revisions.add(document, shelved)


log = structlog.get_logger()


@dataclass(frozen=True)
class ReplaceTarget:
    """A document whose content the caller may replace at this moment."""

    access: Access
    document_id: UUID


class ReplaceService:
    def __init__(self, engine: MoveEngine, staging: Staging, ledger: Ledger) -> None:
        self._engine = engine
        self._staging = staging
        self._ledger = ledger

    async def permit(self, caller: Principal, kb_id: UUID, document_id: UUID) -> ReplaceTarget:
        """Right and rule, asked before the first byte is read."""
        async with self._engine.database.work(caller) as work:
            return ReplaceTarget(await _permit_replace(work, kb_id, document_id), document_id)

    def stage(
        self, target: ReplaceTarget, name: str, chunks: AsyncIterator[bytes], *, now: datetime
    ) -> AbstractAsyncContextManager[StagedUpload]:
        """The block receives the bytes or raises; if it raises, the document stands as before and nothing is left."""
        permit = partial(_permit_replace, kb_id=target.access.kb.id, document_id=target.document_id)
        return self._staging.stage_revision(
            target.access, target.document_id, permit, name=name, chunks=chunks, now=now
        )

    async def receive(self, target: ReplaceTarget, staged: StagedUpload) -> Document:
        """Commit the new revision; a failed twin of its name that made way is erased after."""
        caller, kb_id = target.access.principal, target.access.kb.id
        under_way = observe("replace", kb_id=kb_id, document_id=target.document_id, user_id=caller.user_id)
        async with under_way, self._engine.database.work(caller) as work:
            document, cleared = await replace(work, self._engine.tasks, staged, kb_id)
        count_move(Move.REPLACE, kb_id, caller.user_id)
        for _ in cleared:
            count_move(Move.CLEAR, kb_id, caller.user_id, auto=True)
        UPLOADS.labels("accepted").inc()
        UPLOAD_BYTES.inc(staged.file_size)
        await self._process_deletions(document, [deletion_id for item in cleared for deletion_id in item.deletion_ids])
        return document

    async def revert(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Document:
        """Bring the last readable revision back; the bytes that could not be read are erased after."""
        async with observe("revert", kb_id=kb_id, document_id=document_id, user_id=caller.user_id):
            document, deletion_ids = await revert(self._engine, caller, kb_id, document_id)
        count_move(Move.REVERT, kb_id, caller.user_id)
        await self._process_deletions(document, deletion_ids)
        return document

    async def _process_deletions(self, document: Document, deletion_ids: Sequence[UUID]) -> None:
        if not deletion_ids:
            return
        try:
            await self._ledger.process(document.organization_id, deletion_ids)
        except MunimentError as error:  # the move itself is safe; the sweep finishes the rest
            log.warning("replacing.erase_failed", document_id=str(document.id), error=error.message)


async def _permit_replace(work: Work[Principal], kb_id: UUID, document_id: UUID) -> Access:
    access = await require_move_access(work, Move.REPLACE, kb_id)
    document = await DocumentRepository(work.session).get(kb_id, document_id)
    resolve_target(Move.REPLACE, Status(document.status))
    return access
