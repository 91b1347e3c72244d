"""Revert a failed replacement to the last completed revision and its status."""

from contextlib import AbstractAsyncContextManager
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentReverted
from muniment.audit.log import AuditLog
from muniment.documents.name_conflicts import require_name
from muniment.documents.purge import destroy_revisions
from muniment.documents.repository import RevisionRepository
from muniment.documents.tables import Document, Revision, Status
from muniment.lifecycle.engine import Mover, hold_with_name, indexed, look
from muniment.lifecycle.moves.restore import reread_if_lacking
from muniment.lifecycle.obstacles import MovedMeanwhile
from muniment.lifecycle.revision_snapshots import Shelf, get_shelf
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import carry_out
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work


async def revert(mover: Mover, caller: Principal, kb_id: UUID, document_id: UUID) -> tuple[Document, list[UUID]]:
    """Pages and what people wrote on them were never touched; the lines of the ledger that take the failed bytes away.

    `Unavailable`: nothing was changed, and the index is put back.
    """
    async with mover.database.work(caller) as work:
        seen = await look(work, Move.REVERT, kb_id, document_id)
        shelf = await get_shelf(work.session, seen)
        revision = await RevisionRepository(work.session).get(document_id, shelf.revision)
        await require_name(work, seen, revision.name)
    async with _moving(mover, caller, seen, shelf) as work:
        document, _ = await hold_with_name(work, Move.REVERT, kb_id, document_id, name=revision.name)
        if document.epoch != seen.epoch:  # it was put back, replaced, and has failed once more
            raise MovedMeanwhile
        failed_epochs = await RevisionRepository(work.session).list_epochs_after(document_id, shelf.revision)
        line_ids = await _bring_back(work, mover, document, shelf, revision)
    await mover.index.forget_epochs(indexed(document), failed_epochs)
    return document, line_ids


def _moving(
    mover: Mover, caller: Principal, document: Document, shelf: Shelf
) -> AbstractAsyncContextManager[Work[Principal]]:
    """The copies in an index are as they were, unless somebody has put them right in the meantime: it is told."""
    move = mover.index.hiding if shelf.status is Status.ARCHIVED else mover.index.showing
    return move(caller, indexed(document), document.epoch)


async def _bring_back(
    work: Work[Principal], mover: Mover, document: Document, shelf: Shelf, revision: Revision
) -> list[UUID]:
    failed_name, failed_revision = document.name, document.revision
    await _move(work, document, shelf, revision)
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
    if shelf.status is Status.COMPLETED:
        await reread_if_lacking(work, mover, document)
        await work.session.refresh(document)
    return await destroy_revisions(work, document, besides=document.revision, reason="reverted", with_artifacts=True)


async def _move(work: Work[Principal], document: Document, shelf: Shelf, revision: Revision) -> None:
    columns = {**shelf.columns(revision), "epoch": document.epoch + 1}
    try:
        async with work.session.begin_nested():
            await carry_out(work.session, Move.REVERT, document.id, document.epoch, shelf.status, **columns)
    except IntegrityError:  # a namesake came between our look and the move: the constraint decides
        await require_name(work, document, revision.name)
        raise MovedMeanwhile from None
    await require_name(work, document, revision.name)  # as on upload: it may have been archived between the two
    await work.session.refresh(document)
