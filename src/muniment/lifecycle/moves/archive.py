"""Archive a completed document: hide it from search and keep it (docs/contracts.md#archive)."""

from sqlalchemy import func

from muniment.audit.events import DocumentArchived
from muniment.audit.log import AuditLog
from muniment.documents.handovers import request_handover
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandoverPolicy
from muniment.lifecycle.engine import DocumentMove, MoveEngine
from muniment.lifecycle.obstacles import MoveContext
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status_of


class Archive(DocumentMove[Document]):
    """Archive a document. After the response, nobody finds it."""

    move = Move.ARCHIVE

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Document:
        work, document = context.work, context.document
        await engine.tasks.revoke_run(work, document.id, document.epoch)  # a reread in progress
        # The epoch fences off that reread's worker. `index_epoch` stays: it names the vectors that a restore shows.
        await change_status_of(work.session, self.move, document, epoch=document.epoch + 1, archived_at=func.now())
        await AuditLog(work).record(DocumentArchived(document.id, document.kb_id, document.name))
        if context.kb.hand_over_policy == HandoverPolicy.ON_ARCHIVED:
            await request_handover(work, document.id, HandoverPolicy.ON_ARCHIVED)
            await work.session.refresh(document)
        return document
