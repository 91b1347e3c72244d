"""Replace the content of a document (docs/contracts.md#replace).

The document keeps its id, its type and its annotations. The old content stays in every store until the new content has
been processed, so that the replacement can be reverted.
"""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentReplaced
from muniment.audit.log import AuditLog
from muniment.documents.name_conflicts import AutoCleared, auto_clear, report_auto_clears, require_name_available_for
from muniment.documents.names import name_key
from muniment.documents.purge import purge_failed_replacement
from muniment.documents.quotas import Growth, UploadRoom
from muniment.documents.repository import RevisionRepository, UploadRepository
from muniment.documents.staging import StagedUpload, Staging, UploadExpired
from muniment.documents.tables import Document, Status
from muniment.errors import Conflict
from muniment.knowledge_bases.access import Access
from muniment.lifecycle.engine import DocumentMove, MoveEngine, Target, observe_move
from muniment.lifecycle.observability import Operation
from muniment.lifecycle.obstacles import MoveContext
from muniment.lifecycle.revision_snapshots import take_snapshot
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import process_now
from muniment.telemetry.metrics import UPLOAD_BYTES, UPLOADS

# `completed_at` stays: a failed document that once completed is not cleared by an upload of its name.
# `index_epoch` stays: an external index keeps the old copies under it until the new ones are complete.
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


@dataclass(frozen=True)
class Replaced:
    """A document with its new revision, and the failed uploads that were cleared to free its name."""

    document: Document
    cleared: list[AutoCleared]
    discarded: Sequence[UUID] = ()
    """Ledger entries of an earlier replacement that failed."""


class Replace(DocumentMove[Replaced]):
    """Turn a staged upload into the document's new revision and queue its processing."""

    move = Move.REPLACE

    def __init__(self, staged: StagedUpload) -> None:
        self._staged = staged
        self.new_name = staged.name

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Replaced:
        work, document = context.work, context.document
        if not await UploadRepository(work.session).claim(self._staged.upload_id):
            raise UploadExpired
        await engine.tasks.revoke_run(work, document.id, document.epoch)  # of the revision that waits, or a reread
        old_name, old_revision = document.name, document.revision
        growth = Growth(self._staged.file_size - await count_freed_bytes(work, document))
        await self._write_revision(work, document)
        # Again: an active namesake may have been archived or have failed between the check and the move.
        failed_namesakes = await require_name_available_for(work, document, self._staged.name)
        cleared = [await auto_clear(work, namesake) for namesake in failed_namesakes]
        await record_replacement(work, document, old_name=old_name, old_revision=old_revision)
        await engine.tasks.enqueue_run(work, document.id, document.epoch)
        discarded = await purge_failed_replacement(work, document, reason="replaced")
        await engine.quotas.enforce(work, growth)
        return Replaced(document, cleared, discarded.deletion_ids if discarded else ())

    async def _write_revision(self, work: Work[Principal], document: Document) -> None:
        revisions, staged = RevisionRepository(work.session), self._staged
        snapshot = await take_snapshot(work.session, document)
        columns = {
            **PROCESSING_RESET,
            **HANDOVER_RESET,
            "epoch": document.epoch + 1,  # from the commit on, no write of an older worker is accepted
            "revision": await revisions.next_revision(document.id),
            "name": staged.name,
            "name_key": name_key(staged.name),
            "media_type": staged.media_type.media_type,
            "original_uri": staged.object_key,
            "file_size": staged.file_size,
            "sha256": staged.sha256,
            "content_hmac": staged.content_key,
            "uploaded_by": work.caller.user_id,
        }
        try:
            async with work.session.begin_nested():
                await change_status(work.session, self.move, document.id, document.epoch, **columns)
        except IntegrityError:  # the name was taken after the check: the constraint decides
            await require_name_available_for(work, document, staged.name)
            raise NameTakenConcurrently from None
        await work.session.refresh(document)
        await revisions.add(document, snapshot)

    async def finish(self, result: Replaced, engine: MoveEngine, operation: Operation) -> None:
        """Count the upload, and delete what cleared uploads and an earlier replacement left."""
        UPLOADS.labels("accepted").inc()
        UPLOAD_BYTES.inc(self._staged.file_size)
        await finish_cleared(result, engine)


async def record_replacement(work: Work[Principal], document: Document, *, old_name: str, old_revision: int) -> None:
    """Write the audit event of a document that has its new revision."""
    event = DocumentReplaced(
        document.id,
        document.kb_id,
        old_name,
        document.name,
        old_revision=old_revision,
        new_revision=document.revision,
        file_size=document.file_size,
        sha256=document.sha256,
    )
    await AuditLog(work).record(event)


async def finish_cleared(result: Replaced, engine: MoveEngine) -> None:
    """Count the uploads that were cleared for the name, and delete what they and an earlier replacement left."""
    document = result.document
    report_auto_clears(result.cleared, document.kb_id, document.uploaded_by)
    deletion_ids = [deletion_id for cleared in result.cleared for deletion_id in cleared.deletion_ids]
    await process_now(engine.ledger, document.organization_id, [*deletion_ids, *result.discarded])


async def count_freed_bytes(work: Work[Principal], document: Document) -> int:
    """Return how large new content can be without more counting towards the quota than now (docs/design.md#quotas)."""
    sizes = await RevisionRepository(work.session).list_sizes(document.id)
    oldest, *newer = [size for size, is_failed in sizes if not is_failed]
    discarded = sum(size for size, is_failed in sizes if is_failed)
    is_in_progress = document.status in (Status.PENDING, Status.PROCESSING)
    counted = max(oldest, sum(newer)) if is_in_progress else oldest + sum(newer)
    return counted + discarded - sum(newer)


@dataclass(frozen=True)
class ReplacementUpload:
    """Receives the new content of one document. Rights and rules are checked before the first byte and in the move."""

    engine: MoveEngine
    staging: Staging
    target: Target
    access: Access
    operation: Operation

    async def require_room(self) -> UploadRoom | None:
        """Raise if a quota leaves no room for the new content, before the first byte is read."""
        if self.engine.quotas.is_unlimited:
            return None
        async with self.engine.database.work(self.target.caller) as work:
            freed_bytes = await count_freed_bytes(work, (await self._permit(work)).document)
            return await self.engine.quotas.require_room(work, freed_bytes=freed_bytes)

    def stage(
        self, name: str, chunks: AsyncIterator[bytes], *, now: datetime, room: UploadRoom | None = None
    ) -> AbstractAsyncContextManager[StagedUpload]:
        """Store the upload. If the block raises, the upload is deleted and the document stays as it was."""
        return self.staging.stage_revision(
            self.access, self.target.document_id, self._permit, name=name, chunks=chunks, now=now, room=room
        )

    async def _permit(self, work: Work[Principal]) -> MoveContext:
        return await self.engine.permit(work, Move.REPLACE, self.target)

    async def receive(self, staged: StagedUpload) -> Document:
        """Make the staged upload the document's new revision."""
        self.operation.started = time.perf_counter()
        move = Replace(staged)
        result = await self.engine.commit(move, self.target)
        await move.finish(result, self.engine, self.operation)
        return result.document


@asynccontextmanager
async def open_replacement(engine: MoveEngine, staging: Staging, target: Target) -> AsyncIterator[ReplacementUpload]:
    """Check that the caller may replace the document, before the first byte is read.

    The block is observed as one replacement, also if it fails while the file is received.
    """
    async with observe_move(Move.REPLACE, target) as operation:
        async with engine.database.work(target.caller) as work:
            context = await engine.permit(work, Move.REPLACE, target)
        yield ReplacementUpload(engine, staging, target, context.access, operation)
