"""Obstacles to lifecycle moves: the checks that raise them and their errors."""

from collections.abc import Collection, Sequence
from uuid import UUID

from muniment.audit.events import DocumentHandOverCancelled
from muniment.audit.log import AuditLog
from muniment.documents.handovers import list_open_handovers
from muniment.documents.name_conflicts import DuplicateDocument
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document
from muniment.errors import Conflict, Refused
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

PENDING = "pending"


class HandoverPending(Conflict):
    """The document is being sent to Paperless. Wait until that is finished, or purge with cancel_hand_over=true"""

    code = "HandOverPending"


async def list_pending_jobs(work: Work[Principal], document_id: UUID) -> Sequence[str]:
    """The jobs of the document that wait for the archiver."""
    return [one.job_id for one in await list_open_handovers(work.session, document_id) if one.is_pending]


async def require_no_open_handover(
    work: Work[Principal], document: Document, *, cancel: bool, cancelled_jobs: Collection[str] = ()
) -> None:
    """In the transaction that destroys it: `HandoverPending` while a hand-over is under way, but for those that were
    taken back."""
    pending = set(await list_pending_jobs(work, document.id))
    if not pending and document.archive_status != PENDING:
        return
    if not cancel or not pending <= set(cancelled_jobs):
        raise HandoverPending
    await AuditLog(work).record(DocumentHandOverCancelled(document.id, document.kb_id, document.name))


class NothingToRevert(Refused):
    """There is no previous version to revert to"""


class RestoreNameTaken(Conflict):
    """Cannot restore: a document with this name already exists"""

    code = "RestoredNameTaken"


async def require_no_active_namesake(work: Work[Principal], document: Document) -> None:
    if namesake := await DocumentRepository(work.session).find_active(document.kb_id, document.name_key):
        raise DuplicateDocument(namesake)


class DocumentChangedConcurrently(Conflict):
    """Someone else changed this document. Reload and try again"""

    code = "MovedMeanwhile"
