"""Revert a failed replacement to the last completed revision and its status."""

from contextlib import AbstractAsyncContextManager
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentReverted
from muniment.audit.log import AuditLog
from muniment.documents.name_conflicts import require_name_available_for
from muniment.documents.purge import purge_revisions
from muniment.documents.repository import RevisionRepository
from muniment.documents.tables import Document, Revision, Status
from muniment.lifecycle.engine import MoveEngine, indexed_document, permit, permit_locked_with_name
from muniment.lifecycle.moves.restore import reread_if_index_outdated
from muniment.lifecycle.obstacles import DocumentChangedConcurrently
from muniment.lifecycle.revision_snapshots import RevisionSnapshot, get_snapshot
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work


async def revert(engine: MoveEngine, caller: Principal, kb_id: UUID, document_id: UUID) -> tuple[Document, list[UUID]]:
    """Pages and what people wrote on them were never touched; the lines of the ledger that take the failed bytes away.

    `Unavailable`: nothing was changed, and the index is put back.
    """
    async with engine.database.work(caller) as work:
        seen = await permit(work, Move.REVERT, kb_id, document_id)
        shelf = await get_snapshot(work.session, seen)
        revision = await RevisionRepository(work.session).get(document_id, shelf.revision)
        await require_name_available_for(work, seen, revision.name)
    async with _transaction(engine, caller, seen, shelf) as work:
        document, _ = await permit_locked_with_name(work, Move.REVERT, kb_id, document_id, name=revision.name)
        if document.epoch != seen.epoch:  # it was put back, replaced, and has failed once more
            raise DocumentChangedConcurrently
        failed_epochs = await RevisionRepository(work.session).list_epochs_after(document_id, shelf.revision)
        line_ids = await _apply(work, engine, document, shelf, revision)
    await engine.index.delete_epochs(indexed_document(document), failed_epochs)
    return document, line_ids


def _transaction(
    engine: MoveEngine, caller: Principal, document: Document, snapshot: RevisionSnapshot
) -> AbstractAsyncContextManager[Work[Principal]]:
    """The copies in an index are as they were, unless somebody has put them right in the meantime: it is told."""
    move = engine.index.hide if snapshot.status is Status.ARCHIVED else engine.index.show
    return move(caller, indexed_document(document), document.epoch)


async def _apply(
    work: Work[Principal], engine: MoveEngine, document: Document, snapshot: RevisionSnapshot, revision: Revision
) -> list[UUID]:
    failed_name, failed_revision = document.name, document.revision
    await _restore_columns(work, document, snapshot, revision)
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
        await reread_if_index_outdated(work, engine, document)
        await work.session.refresh(document)
    return await purge_revisions(work, document, keep=document.revision, reason="reverted", delete_artifacts=True)


async def _restore_columns(
    work: Work[Principal], document: Document, snapshot: RevisionSnapshot, revision: Revision
) -> None:
    columns = {**snapshot.columns(revision), "epoch": document.epoch + 1}
    try:
        async with work.session.begin_nested():
            await change_status(work.session, Move.REVERT, document.id, document.epoch, snapshot.status, **columns)
    except IntegrityError:  # a namesake came between our look and the move: the constraint decides
        await require_name_available_for(work, document, revision.name)
        raise DocumentChangedConcurrently from None
    await require_name_available_for(
        work, document, revision.name
    )  # as on upload: it may have been archived between the two
    await work.session.refresh(document)
