"""Revert a failed replacement to the last completed revision and its status."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentReverted
from muniment.audit.log import AuditLog
from muniment.documents.name_conflicts import require_name_available_for
from muniment.documents.purge import purge_revisions
from muniment.documents.repository import RevisionRepository
from muniment.documents.tables import Document, Revision, Status
from muniment.lifecycle.engine import DocumentMove, MoveEngine, indexed_document
from muniment.lifecycle.moves.restore import reread_if_index_outdated
from muniment.lifecycle.observability import Operation
from muniment.lifecycle.obstacles import DocumentChangedConcurrently, MoveContext
from muniment.lifecycle.revision_snapshots import RevisionSnapshot, get_snapshot
from muniment.lifecycle.rules import Move, Visibility
from muniment.lifecycle.status import change_status
from muniment.storage.deletions.ledger import process_now


@dataclass(frozen=True)
class Reverted:
    """A document that has its last completed revision again, and what is left of the failed ones."""

    document: Document
    deletion_ids: Sequence[UUID]
    failed_epochs: Sequence[int]


@dataclass(frozen=True)
class _Seen:
    """The document as it was before an external index was updated."""

    epoch: int
    snapshot: RevisionSnapshot
    revision: Revision


class Revert(DocumentMove[Reverted]):
    """Restore the last completed revision. Pages and annotations were never changed."""

    move = Move.REVERT
    needs_preview = True  # the name of the old revision must be known before its documents are locked
    _seen: _Seen

    async def visibility(self, context: MoveContext) -> Visibility:
        """Show the document or hide it as before the replace: an intent may have been repaired in the meantime."""
        session, document = context.work.session, context.document
        snapshot = await get_snapshot(session, document)
        revision = await RevisionRepository(session).get(document.id, snapshot.revision)
        self._seen, self.new_name = _Seen(document.epoch, snapshot, revision), revision.name
        return Visibility.HIDDEN if snapshot.status is Status.ARCHIVED else Visibility.VISIBLE

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Reverted:
        work, document, snapshot = context.work, context.document, self._seen.snapshot
        if document.epoch != self._seen.epoch:  # it was reverted, replaced, and has failed again
            raise DocumentChangedConcurrently
        failed_epochs = await RevisionRepository(work.session).list_epochs_after(document.id, snapshot.revision)
        failed_name, failed_revision = document.name, document.revision
        await self._restore_columns(context)
        event = DocumentReverted(
            document.id,
            document.kb_id,
            failed_name,
            document.name,
            old_revision=failed_revision,
            new_revision=document.revision,
            file_size=document.file_size,
            sha256=document.sha256,
        )
        await AuditLog(work).record(event)
        if snapshot.status is Status.COMPLETED:
            await reread_if_index_outdated(work, engine.tasks, document, is_external=engine.index.holds_copies)
            await work.session.refresh(document)
        deletion_ids = await purge_revisions(
            work, document, keep=[document.revision], reason="reverted", delete_artifacts=True
        )
        return Reverted(document, deletion_ids, failed_epochs)

    async def _restore_columns(self, context: MoveContext) -> None:
        work, document, seen = context.work, context.document, self._seen
        columns = {**seen.snapshot.columns(seen.revision), "epoch": document.epoch + 1}
        try:
            async with work.session.begin_nested():
                await change_status(
                    work.session, self.move, document.id, document.epoch, seen.snapshot.status, **columns
                )
        except IntegrityError:  # the name was taken after the check: the constraint decides
            await require_name_available_for(work, document, seen.revision.name)
            raise DocumentChangedConcurrently from None
        # Again, as on upload: an active namesake may have been archived between the check and the move.
        await require_name_available_for(work, document, seen.revision.name)
        await work.session.refresh(document)

    async def finish(self, result: Reverted, engine: MoveEngine, operation: Operation) -> None:
        """Delete the vectors and the original of the failed revisions."""
        await engine.index.delete_epochs(indexed_document(result.document), result.failed_epochs)
        await process_now(engine.ledger, result.document.organization_id, result.deletion_ids)
