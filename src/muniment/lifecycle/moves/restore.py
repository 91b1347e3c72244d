"""Restore an archived document, so that search finds it again (specs/lifecycle.md)."""

from functools import partial
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentRestored
from muniment.audit.log import AuditLog
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document
from muniment.lifecycle.engine import Mover, hold, look
from muniment.lifecycle.moves.retry import reread
from muniment.lifecycle.observability import measured, moved
from muniment.lifecycle.obstacles import RestoredNameTaken
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import carry_out_with
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import RunWish

# By name and not through the tables: search lies above this feature. Copies outside PostgreSQL are those of the models
# that were known when the run ended which wrote them, whatever other documents of the same content have got since.
_LACKS_PASSAGES = text("""
    SELECT NOT EXISTS (SELECT FROM indexed_documents i WHERE i.document_id = d.id AND i.fingerprint = v.fingerprint)
           OR :are_copies AND NOT EXISTS (SELECT FROM document_processing_runs r WHERE r.document_id = d.id
                                             AND r.epoch = d.index_epoch AND r.ended_at >= v.created_at)
      FROM documents d, indexing_variants v WHERE d.id = :document_id AND v.is_active
""")


async def restore(mover: Mover, caller: Principal, kb_id: UUID, document_id: UUID) -> Document:
    """It is found again as before. `Unavailable`: nothing was changed, the index is put back."""
    async with measured("restore", kb_id=kb_id, document_id=document_id, user_id=caller.user_id):
        seen = partial(_look, kb_id=kb_id, document_id=document_id)
        async with mover.showing(caller, seen) as work:
            document = await hold(work, Move.RESTORE, kb_id, document_id)
            await _bring_back(work, mover, document)
    moved(Move.RESTORE, kb_id, caller.user_id)
    return document


async def _look(work: Work[Principal], kb_id: UUID, document_id: UUID) -> Document:
    document = await look(work, Move.RESTORE, kb_id, document_id)
    if await DocumentRepository(work.session).find_active(document.kb_id, document.name_key):
        raise RestoredNameTaken
    return document


async def _bring_back(work: Work[Principal], mover: Mover, document: Document) -> None:
    try:
        await carry_out_with(work.session, Move.RESTORE, document, archived_at=None)
    except IntegrityError:  # a namesake: the constraint decides
        raise RestoredNameTaken from None
    await AuditLog(work).record(DocumentRestored(document.id, document.kb_id, document.name))
    await reread_if_lacking(work, mover, document)


async def reread_if_lacking(work: Work[Principal], mover: Mover, document: Document) -> None:
    """For a document that has just come back: if what answers now would not find it, it is read again."""
    if await _lacks_passages(work, document, are_copies=mover.index.holds_copies):
        # `force`: to a worker, a document that shows the newest text is done, whatever its copies are worth.
        await reread(work, mover.tasks, document, RunWish(force=True))
        await work.session.refresh(document)


async def _lacks_passages(work: Work[Principal], document: Document, *, are_copies: bool) -> bool:
    """Whether the model was changed while the document was away: what answers now would not find it."""
    values = {"document_id": document.id, "are_copies": are_copies}
    return bool(await work.session.scalar(_LACKS_PASSAGES, values))
