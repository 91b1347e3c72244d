"""Taking a completed document out of the search and keeping it (specs/lifecycle.md)."""

from functools import partial
from uuid import UUID

from sqlalchemy import func

from muniment.audit.events import DocumentArchived
from muniment.audit.log import AuditLog
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandOverPolicy
from muniment.lifecycle.hand_over_wish import wish_hand_over
from muniment.lifecycle.measured import measured, moved
from muniment.lifecycle.mover import Mover, hold, look
from muniment.lifecycle.moves import carry_out
from muniment.lifecycle.rules import Move
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import Tasks


async def archive(mover: Mover, caller: Principal, kb_id: UUID, document_id: UUID) -> Document:
    """From the moment of the answer on nobody finds it. `Unavailable`: nothing was changed, the index is put back."""
    async with measured("archive", kb_id=kb_id, document_id=document_id, user_id=caller.user_id):
        seen = partial(look, move=Move.ARCHIVE, kb_id=kb_id, document_id=document_id)
        async with mover.hiding(caller, seen) as work:
            document = await hold(work, Move.ARCHIVE, kb_id, document_id)
            await _put_away(work, mover.tasks, document)
    moved(Move.ARCHIVE, kb_id, caller.user_id)
    return document


async def _put_away(work: Work[Principal], tasks: Tasks, document: Document) -> None:
    await tasks.revoke_run(work, document.id, document.epoch)  # a reread that is under way
    # The epoch grows against that reread's worker. `index_epoch` stays: it names the passages that a restore shows.
    columns = {"epoch": document.epoch + 1, "archived_at": func.now()}
    await carry_out(work.session, Move.ARCHIVE, document.id, document.epoch, **columns)
    await AuditLog(work).record(DocumentArchived(document.id, document.kb_id, document.name))
    await wish_hand_over(work, document.id, HandOverPolicy.ON_ARCHIVED)
    await work.session.refresh(document)
