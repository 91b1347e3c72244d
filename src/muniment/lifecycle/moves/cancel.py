"""Cancel the processing of a document (docs/contracts.md#cancel)."""

from uuid import UUID

from muniment.audit.events import DocumentCancelled
from muniment.audit.log import AuditLog
from muniment.documents.tables import Document
from muniment.lifecycle.engine import permit_locked
from muniment.lifecycle.observability import count_move, observe
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.tasks.port import RevokeReason, TaskQueue

CANCELLED_MESSAGE = "Processing cancelled by user"


async def cancel(database: Database, tasks: TaskQueue, caller: Principal, kb_id: UUID, document_id: UUID) -> None:
    """The document has failed, its job is revoked, and whoever works on it can write nothing any more."""
    async with (
        observe("cancel", kb_id=kb_id, document_id=document_id, user_id=caller.user_id),
        database.work(caller) as work,
    ):
        await _apply(work, tasks, await permit_locked(work, Move.CANCEL, kb_id, document_id))
    count_move(Move.CANCEL, kb_id, caller.user_id)


async def _apply(work: Work[Principal], tasks: TaskQueue, document: Document) -> None:
    await tasks.revoke_run(work, document.id, document.epoch, RevokeReason.CANCELLED)
    columns = {
        "epoch": document.epoch + 1,  # in the same transaction: the fence of every worker closes with the commit
        "last_error": CANCELLED_MESSAGE,
        "processing_status": "failed",
        "processing_errors": [{"code": RevokeReason.CANCELLED, "message": CANCELLED_MESSAGE}],
    }
    await change_status(work.session, Move.CANCEL, document.id, document.epoch, **columns)
    event = DocumentCancelled(document.id, document.kb_id, document.name, before=document.status)
    await AuditLog(work).record(event)
