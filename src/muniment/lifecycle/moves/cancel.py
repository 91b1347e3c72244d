"""Cancel the processing of a document (docs/contracts.md#cancel)."""

from muniment.artifacts.deletion import DeletedDocument, artifact_deletions
from muniment.audit.events import DocumentCancelled
from muniment.audit.log import AuditLog
from muniment.lifecycle.engine import DocumentMove, MoveEngine
from muniment.lifecycle.obstacles import MoveContext
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.storage.deletions.ledger import LedgerRepository
from muniment.storage.tasks.port import RevokeReason

CANCELLED_MESSAGE = "Processing cancelled by user"


class Cancel(DocumentMove[None]):
    """Stop processing a document. It fails, its job is revoked, and its worker cannot write any more."""

    move = Move.CANCEL

    async def apply(self, context: MoveContext, engine: MoveEngine) -> None:
        work, document = context.work, context.document
        await engine.tasks.revoke_run(work, document.id, document.epoch, RevokeReason.CANCELLED)
        columns = {
            "epoch": document.epoch + 1,  # in the same transaction, so that the commit also closes the worker's fence
            "last_error": CANCELLED_MESSAGE,
            "processing_status": "failed",
            "processing_errors": [{"code": RevokeReason.CANCELLED, "message": CANCELLED_MESSAGE}],
        }
        await change_status(work.session, self.move, document.id, document.epoch, **columns)
        # What the run has stored, unless another document uses it. It can store nothing more.
        of_document = DeletedDocument(document.organization_id, document.kb_id, document.id)
        entries = artifact_deletions(of_document, [document.content_hmac], reason=RevokeReason.CANCELLED)
        await LedgerRepository(work.session).add(entries)
        event = DocumentCancelled(document.id, document.kb_id, document.name, before=document.status)
        await AuditLog(work).record(event)
