"""Cancel the processing of a document (specs/lifecycle.md)."""

from uuid import UUID

from muniment.audit.events import DocumentCancelled
from muniment.audit.log import AuditLog
from muniment.documents.tables import Document
from muniment.lifecycle.engine import hold
from muniment.lifecycle.observability import measured, moved
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import carry_out
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.tasks.port import Revoked, Tasks

MESSAGE = "Processing cancelled by user"


async def cancel(database: Database, tasks: Tasks, caller: Principal, kb_id: UUID, document_id: UUID) -> None:
    """The document has failed, its job is revoked, and whoever works on it can write nothing any more."""
    async with (
        measured("cancel", kb_id=kb_id, document_id=document_id, user_id=caller.user_id),
        database.work(caller) as work,
    ):
        await _stop(work, tasks, await hold(work, Move.CANCEL, kb_id, document_id))
    moved(Move.CANCEL, kb_id, caller.user_id)


async def _stop(work: Work[Principal], tasks: Tasks, document: Document) -> None:
    await tasks.revoke_run(work, document.id, document.epoch, Revoked.CANCELLED)
    columns = {
        "epoch": document.epoch + 1,  # in the same transaction: the fence of every worker closes with the commit
        "last_error": MESSAGE,
        "processing_status": "failed",
        "processing_errors": [{"code": Revoked.CANCELLED, "message": MESSAGE}],
    }
    await carry_out(work.session, Move.CANCEL, document.id, document.epoch, **columns)
    event = DocumentCancelled(document.id, document.kb_id, document.name, before=document.status)
    await AuditLog(work).record(event)
