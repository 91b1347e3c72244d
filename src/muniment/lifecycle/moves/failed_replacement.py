"""Moves of a document that was reverted automatically: try the content that could not be read again, or delete it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from muniment.documents.failed_replacements import REQUESTED, record_deletion
from muniment.documents.name_conflicts import AutoCleared, auto_clear, require_name_available_for
from muniment.documents.names import name_key
from muniment.documents.purge import purge_failed_replacement
from muniment.documents.repository import RevisionRepository
from muniment.documents.tables import Document, Revision
from muniment.lifecycle.engine import DocumentMove, MoveEngine, Target
from muniment.lifecycle.moves.replace import (
    HANDOVER_RESET,
    PROCESSING_RESET,
    NameTakenConcurrently,
    Replaced,
    finish_cleared,
    record_replacement,
)
from muniment.lifecycle.observability import Operation
from muniment.lifecycle.obstacles import DocumentChangedConcurrently, MoveContext, NoFailedReplacement
from muniment.lifecycle.revision_snapshots import take_snapshot
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.storage.deletions.ledger import process_now


class RetryReplacement(DocumentMove[Replaced]):
    """Replace the document again with the content that could not be read, and queue its processing."""

    move = Move.RETRY_REPLACEMENT

    async def prepare(self, engine: MoveEngine, target: Target) -> None:
        """Find the name that the document gets, so that other documents of that name are locked with it."""
        async with engine.database.work(target.caller) as work:
            await engine.permit(work, self.move, target)
            failed = await RevisionRepository(work.session).find_failed(target.document_id)
            self.new_name = failed.name if failed else None

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Replaced:
        work, document = context.work, context.document
        old_name, old_revision = document.name, document.revision
        failed = await _claim(context)
        if failed.name != self.new_name:  # another replacement has failed since
            raise DocumentChangedConcurrently
        await engine.tasks.revoke_run(work, document.id, document.epoch)  # of a reread
        cleared = await _write_revision(context, failed)
        await record_replacement(work, document, old_name=old_name, old_revision=old_revision)
        await engine.tasks.enqueue_run(work, document.id, document.epoch)
        await engine.quotas.enforce(work)
        return Replaced(document, cleared)

    async def finish(self, result: Replaced, engine: MoveEngine, operation: Operation) -> None:
        """Delete what the cleared uploads left."""
        await finish_cleared(result, engine)


async def _claim(context: MoveContext) -> Revision:
    """Delete the row of the failed replacement and return it. Its content is kept: another row will reference it."""
    deleted = await RevisionRepository(context.work.session).delete_failed(context.document.id)
    if not deleted:
        raise NoFailedReplacement
    return deleted[-1]


async def _write_revision(context: MoveContext, failed: Revision) -> list[AutoCleared]:
    """Make the failed content the document's new revision. Return the failed uploads that were cleared for its name."""
    work, document = context.work, context.document
    revisions = RevisionRepository(work.session)
    snapshot = await take_snapshot(work.session, document)
    columns = {
        **PROCESSING_RESET,
        **HANDOVER_RESET,
        "epoch": document.epoch + 1,
        "revision": max(failed.revision + 1, await revisions.next_revision(document.id)),
        "name": failed.name,
        "name_key": name_key(failed.name),
        "media_type": failed.media_type,
        "original_uri": failed.original_uri,
        "file_size": failed.file_size,
        "sha256": failed.sha256,
        "content_hmac": failed.content_hmac,
        "uploaded_by": failed.uploaded_by,
    }
    try:
        async with work.session.begin_nested():
            await change_status(work.session, context.move, document.id, document.epoch, **columns)
    except IntegrityError:  # the name was taken after the check: the constraint decides
        await require_name_available_for(work, document, failed.name)
        raise NameTakenConcurrently from None
    await work.session.refresh(document)
    await revisions.add(document, snapshot)
    # Again: an active namesake may have been archived or have failed between the check and the move.
    namesakes = await require_name_available_for(work, document, failed.name)
    return [await auto_clear(work, namesake) for namesake in namesakes]


@dataclass(frozen=True)
class Discarded:
    """A document whose failed replacement was deleted."""

    document: Document
    deletion_ids: Sequence[UUID]


class DiscardReplacement(DocumentMove[Discarded]):
    """Delete the content that could not be read. The document stays as it is."""

    move = Move.DISCARD_REPLACEMENT

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Discarded:
        work, document = context.work, context.document
        purged = await purge_failed_replacement(work, document, reason="replacement_discarded")
        if purged is None:
            raise NoFailedReplacement
        await record_deletion(work, document, purged, reason=REQUESTED)
        return Discarded(document, purged.deletion_ids)

    async def finish(self, result: Discarded, engine: MoveEngine, operation: Operation) -> None:
        """Delete the content now. What fails is left to the sweep."""
        await process_now(engine.ledger, result.document.organization_id, result.deletion_ids)
