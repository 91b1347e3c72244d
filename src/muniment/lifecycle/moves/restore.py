"""Restore an archived document, so that search finds it again (docs/contracts.md#restore)."""

from functools import partial
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentRestored
from muniment.audit.log import AuditLog
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document
from muniment.lifecycle.engine import MoveEngine, permit, permit_locked
from muniment.lifecycle.moves.retry import reread
from muniment.lifecycle.observability import count_move, observe
from muniment.lifecycle.obstacles import RestoreNameTaken
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status_of
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import RunRequest

# By name and not through the tables: search lies above this feature. Copies outside PostgreSQL are those of the models
# that were known when the run ended which wrote them, whatever other documents of the same content have got since.
_INDEX_IS_OUTDATED = text("""
    SELECT NOT EXISTS (SELECT FROM indexed_documents i WHERE i.document_id = d.id AND i.fingerprint = v.fingerprint)
           OR :are_copies AND NOT EXISTS (SELECT FROM document_processing_runs r WHERE r.document_id = d.id
                                             AND r.epoch = d.index_epoch AND r.ended_at >= v.created_at)
      FROM documents d, indexing_variants v WHERE d.id = :document_id AND v.is_active
""")


async def restore(engine: MoveEngine, caller: Principal, kb_id: UUID, document_id: UUID) -> Document:
    """It is found again as before. `Unavailable`: nothing was changed, the index is put back."""
    async with observe("restore", kb_id=kb_id, document_id=document_id, user_id=caller.user_id):
        seen = partial(_permit_restore, kb_id=kb_id, document_id=document_id)
        async with engine.showing_transaction(caller, seen) as work:
            document = await permit_locked(work, Move.RESTORE, kb_id, document_id)
            await _apply(work, engine, document)
    count_move(Move.RESTORE, kb_id, caller.user_id)
    return document


async def _permit_restore(work: Work[Principal], kb_id: UUID, document_id: UUID) -> Document:
    document = await permit(work, Move.RESTORE, kb_id, document_id)
    if await DocumentRepository(work.session).find_active(document.kb_id, document.name_key):
        raise RestoreNameTaken
    return document


async def _apply(work: Work[Principal], engine: MoveEngine, document: Document) -> None:
    try:
        await change_status_of(work.session, Move.RESTORE, document, archived_at=None)
    except IntegrityError:  # a namesake: the constraint decides
        raise RestoreNameTaken from None
    await AuditLog(work).record(DocumentRestored(document.id, document.kb_id, document.name))
    await reread_if_index_outdated(work, engine, document)


async def reread_if_index_outdated(work: Work[Principal], engine: MoveEngine, document: Document) -> None:
    """For a document that has just come back: if what answers now would not find it, it is read again."""
    if await _index_is_outdated(work, document, is_external=engine.index.holds_copies):
        # `force`: to a worker, a document that shows the newest text is done, whatever its copies are worth.
        await reread(work, engine.tasks, document, RunRequest(force=True))
        await work.session.refresh(document)


async def _index_is_outdated(work: Work[Principal], document: Document, *, is_external: bool) -> bool:
    """Whether the model was changed while the document was away: what answers now would not find it."""
    values = {"document_id": document.id, "are_copies": is_external}
    return bool(await work.session.scalar(_INDEX_IS_OUTDATED, values))
