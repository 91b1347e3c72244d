"""Restore an archived document: make it active and visible to search again (docs/contracts.md#restore)."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentRestored
from muniment.audit.log import AuditLog
from muniment.documents.tables import Document
from muniment.lifecycle.engine import DocumentMove, MoveEngine
from muniment.lifecycle.moves.retry import reread
from muniment.lifecycle.obstacles import MoveContext, RestoreNameTaken
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status_of
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import RunRequest, TaskQueue


class Restore(DocumentMove[Document]):
    """Restore a document. After the response, it is found as before."""

    move = Move.RESTORE

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Document:
        work, document = context.work, context.document
        try:
            await change_status_of(work.session, self.move, document, archived_at=None)
        except IntegrityError:  # the name was taken after the check: the constraint decides
            raise RestoreNameTaken from None
        await AuditLog(work).record(DocumentRestored(document.id, document.kb_id, document.name))
        await reread_if_index_outdated(work, engine.tasks, document, is_external=engine.index.holds_copies)
        return document


async def reread_if_index_outdated(work: Work[Any], tasks: TaskQueue, document: Document, *, is_external: bool) -> None:
    """Queue a reread of a document that is visible again if the active model would not find it.

    `is_external` means that an external index holds copies.
    """
    if await _index_is_outdated(work, document, is_external=is_external):
        # `force`, because a worker would skip a document that already shows the newest text.
        await reread(work, tasks, document, RunRequest(force=True))
        await work.session.refresh(document)


async def _index_is_outdated(work: Work[Any], document: Document, *, is_external: bool) -> bool:
    """Return whether the embedding model was changed while the document was hidden."""
    # Functions of search, which is above this feature: one for users, one for workers.
    is_worker = isinstance(work.caller, Service)
    needs_reindex = func.service_document_needs_reindex if is_worker else func.document_needs_reindex
    return bool(await work.session.scalar(select(needs_reindex(document.id, is_external))))
