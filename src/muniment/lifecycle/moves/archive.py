"""Archive a completed document: hide it from search and keep it (docs/contracts.md#archive)."""

from functools import partial
from uuid import UUID

from sqlalchemy import func

from muniment.audit.events import DocumentArchived
from muniment.audit.log import AuditLog
from muniment.documents.handovers import request_handover
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandoverPolicy, KnowledgeBase
from muniment.lifecycle.engine import MoveEngine, lock_permitted, permit, require_move_access
from muniment.lifecycle.observability import count_move, observe
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status_of
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import TaskQueue


async def archive(engine: MoveEngine, caller: Principal, kb_id: UUID, document_id: UUID) -> Document:
    """From the moment of the answer on nobody finds it. `Unavailable`: nothing was changed, the index is put back."""
    async with observe("archive", kb_id=kb_id, document_id=document_id, user_id=caller.user_id):
        seen = partial(permit, move=Move.ARCHIVE, kb_id=kb_id, document_id=document_id)
        async with engine.hiding_transaction(caller, seen) as work:
            access = await require_move_access(work, Move.ARCHIVE, kb_id)
            document = await lock_permitted(work, Move.ARCHIVE, access, document_id)
            await _apply(work, engine.tasks, document, access.kb)
    count_move(Move.ARCHIVE, kb_id, caller.user_id)
    return document


async def _apply(work: Work[Principal], tasks: TaskQueue, document: Document, kb: KnowledgeBase) -> None:
    await tasks.revoke_run(work, document.id, document.epoch)  # a reread that is under way
    # The epoch grows against that reread's worker. `index_epoch` stays: it names the passages that a restore shows.
    await change_status_of(work.session, Move.ARCHIVE, document, epoch=document.epoch + 1, archived_at=func.now())
    await AuditLog(work).record(DocumentArchived(document.id, document.kb_id, document.name))
    if kb.hand_over_policy == HandoverPolicy.ON_ARCHIVED:
        await request_handover(work, document.id, HandoverPolicy.ON_ARCHIVED)
        await work.session.refresh(document)
