"""Archive a completed document: hide it from search and keep it (specs/lifecycle.md)."""

from functools import partial
from uuid import UUID

from sqlalchemy import func

from muniment.audit.events import DocumentArchived
from muniment.audit.log import AuditLog
from muniment.documents.handovers import wish_hand_over
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandOverPolicy, KnowledgeBase
from muniment.lifecycle.engine import Mover, hold_in, look, require_mover
from muniment.lifecycle.observability import measured, moved
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import carry_out_with
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import Tasks


async def archive(mover: Mover, caller: Principal, kb_id: UUID, document_id: UUID) -> Document:
    """From the moment of the answer on nobody finds it. `Unavailable`: nothing was changed, the index is put back."""
    async with measured("archive", kb_id=kb_id, document_id=document_id, user_id=caller.user_id):
        seen = partial(look, move=Move.ARCHIVE, kb_id=kb_id, document_id=document_id)
        async with mover.hiding(caller, seen) as work:
            access = await require_mover(work, Move.ARCHIVE, kb_id)
            document = await hold_in(work, Move.ARCHIVE, access, document_id)
            await _put_away(work, mover.tasks, document, access.kb)
    moved(Move.ARCHIVE, kb_id, caller.user_id)
    return document


async def _put_away(work: Work[Principal], tasks: Tasks, document: Document, kb: KnowledgeBase) -> None:
    await tasks.revoke_run(work, document.id, document.epoch)  # a reread that is under way
    # The epoch grows against that reread's worker. `index_epoch` stays: it names the passages that a restore shows.
    await carry_out_with(work.session, Move.ARCHIVE, document, epoch=document.epoch + 1, archived_at=func.now())
    await AuditLog(work).record(DocumentArchived(document.id, document.kb_id, document.name))
    if kb.hand_over_policy == HandOverPolicy.ON_ARCHIVED:
        await wish_hand_over(work, document.id, HandOverPolicy.ON_ARCHIVED)
        await work.session.refresh(document)
