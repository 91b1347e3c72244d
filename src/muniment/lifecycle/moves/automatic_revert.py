"""Revert a replacement that failed because of its file, in the transaction that ends its run.

The document gets its previous revision, status and name back. The content that could not be read stays as a revision of
its own until it expires, so that it can be tried again (docs/design.md#replace-and-revert).
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentRevertedAutomatically
from muniment.audit.log import AuditLog
from muniment.documents.failed_replacements import FAILED_REPLACEMENT_LIFETIME
from muniment.documents.name_conflicts import DuplicateDocument, find_name_conflict, require_name_available_for
from muniment.documents.purge import purge_revisions
from muniment.documents.repository import RevisionRepository
from muniment.documents.tables import Document, Revision, Status
from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.lifecycle.engine import indexed_document
from muniment.lifecycle.moves.restore import reread_if_index_outdated
from muniment.lifecycle.obstacles import ObstacleContext, find_obstacle
from muniment.lifecycle.revision_snapshots import RevisionSnapshot, get_snapshot
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import TaskQueue
from muniment.storage.vectors.intents import IntentRepository
from muniment.storage.vectors.tables import IntendedState


@dataclass(frozen=True)
class ReplacementFailure:
    """Why a replacement failed, and when."""

    code: str
    message: str
    at: datetime


@dataclass(frozen=True)
class AutomaticRevert:
    """Reverts failed replacements for a worker."""

    tasks: TaskQueue
    index_holds_copies: bool
    """Whether an external index must follow. It is told by the sweep, through an intent."""

    async def apply(self, work: Work[Service], document_id: UUID, failure: ReplacementFailure) -> bool:
        """Revert the document, which the caller has locked. Return False if that is not possible; then it must fail.

        It is not possible if no revision ever completed, if another document has the name by now, or if the knowledge
        base is being deleted.
        """
        document = await work.session.get_one(Document, document_id, populate_existing=True)
        kb = await work.session.get_one(KnowledgeBase, document.kb_id)
        context = ObstacleContext(work, Move.AUTO_REVERT, kb, document, self.index_holds_copies)
        if await find_obstacle(context):
            return False
        snapshot, revisions = await get_snapshot(work.session, document), RevisionRepository(work.session)
        previous = await revisions.get(document_id, snapshot.revision)
        failed = await revisions.get(document_id, document.revision)
        if not await _restore_columns(work, document, snapshot, previous):
            return False
        expires_at = failure.at + FAILED_REPLACEMENT_LIFETIME
        stored = {"code": failure.code, "message": failure.message, "at": failure.at.isoformat()}
        await revisions.mark_failed(document_id, failed.revision, stored, expires_at)
        # Earlier replacements that failed or were cancelled without completing.
        kept = [previous.revision, failed.revision]
        await purge_revisions(work, document, keep=kept, reason="reverted", delete_artifacts=True)
        await AuditLog(work).record(
            DocumentRevertedAutomatically(
                document.id,
                document.kb_id,
                failed.name,
                document.name,
                old_revision=failed.revision,
                new_revision=document.revision,
                file_size=document.file_size,
                sha256=document.sha256,
            )
        )
        await self._update_search(work, document)
        return True

    async def _update_search(self, work: Work[Service], document: Document) -> None:
        if self.index_holds_copies:
            state = IntendedState.HIDDEN if document.status == Status.ARCHIVED else IntendedState.VISIBLE
            await IntentRepository(work.session).ensure_open(indexed_document(document), state, document.epoch)
        if document.status == Status.COMPLETED:
            await reread_if_index_outdated(work, self.tasks, document, is_external=self.index_holds_copies)


async def _restore_columns(
    work: Work[Service], document: Document, snapshot: RevisionSnapshot, previous: Revision
) -> bool:
    """Copy the snapshot back. Return False, and change nothing, if another document has just taken the name."""
    columns = {**snapshot.columns(previous), "epoch": document.epoch + 1}
    try:
        async with work.session.begin_nested():
            # Namesakes are locked before the name is taken, in the order of every other move.
            await require_name_available_for(work, document, previous.name)
            await change_status(work.session, Move.AUTO_REVERT, document.id, document.epoch, snapshot.status, **columns)
            # Again, as on upload: an active namesake may have been archived between the check and the move.
            if conflict := await find_name_conflict(work, document, previous.name):
                raise conflict
    except (IntegrityError, DuplicateDocument):  # taken after the first check: the constraint decides
        return False
    await work.session.refresh(document)
    return True
