"""Restore an archived document: make it active and visible to search again (docs/contracts.md#restore)."""

from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentRestored
from muniment.audit.log import AuditLog
from muniment.documents.tables import Document
from muniment.lifecycle.engine import DocumentMove, MoveEngine
from muniment.lifecycle.moves.retry import reread
from muniment.lifecycle.obstacles import MoveContext, RestoreNameTaken
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status_of
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import RunRequest

# By name and not through the tables, because search lies above this feature. The copies in an external index are those
# of the models that were known when the run that wrote them ended, whatever other documents of the same content have.
_INDEX_IS_OUTDATED = text("""
    SELECT NOT EXISTS (SELECT FROM indexed_documents i WHERE i.document_id = d.id AND i.fingerprint = v.fingerprint)
           OR :are_copies AND NOT EXISTS (SELECT FROM document_processing_runs r WHERE r.document_id = d.id
                                             AND r.epoch = d.index_epoch AND r.ended_at >= v.created_at)
      FROM documents d, indexing_variants v WHERE d.id = :document_id AND v.is_active
""")


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
        await reread_if_index_outdated(work, engine, document)
        return document


async def reread_if_index_outdated(work: Work[Any], engine: MoveEngine, document: Document) -> None:
    """Queue a reread of a document that is visible again if the active model would not find it."""
    if await _index_is_outdated(work, document, is_external=engine.index.holds_copies):
        # `force`, because a worker would skip a document that already shows the newest text.
        await reread(work, engine.tasks, document, RunRequest(force=True))
        await work.session.refresh(document)


async def _index_is_outdated(work: Work[Any], document: Document, *, is_external: bool) -> bool:
    """Return whether the embedding model was changed while the document was hidden."""
    values = {"document_id": document.id, "are_copies": is_external}
    return bool(await work.session.scalar(_INDEX_IS_OUTDATED, values))
