"""A document that is on its way to the archive is not destroyed under the archiver's hands."""

from collections.abc import Collection, Sequence
from typing import Protocol
from uuid import UUID

from muniment.audit.events import DocumentHandOverCancelled
from muniment.audit.log import AuditLog
from muniment.documents.hand_overs import list_unfinished
from muniment.documents.tables import Document
from muniment.errors import Conflict
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

PENDING = "pending"


class HandOverPending(Conflict):
    """The document is being handed over to the archive: wait until that is done, or purge with cancel_hand_over=true"""


class Withdrawal(Protocol):
    async def withdraw(self, organization_id: UUID, document_id: UUID, job_id: str) -> None:
        """Take a job back before the archiver begins with it, or raise `Conflict`. One that another document waits for
        is left alone. Doing it twice changes nothing; whoever does not carry it through has it taken up again."""


async def list_pending(work: Work[Principal], document_id: UUID) -> Sequence[str]:
    """The jobs of the document that wait for the archiver."""
    return [one.job_id for one in await list_unfinished(work.session, document_id) if one.is_pending]


async def require_no_hand_over(
    work: Work[Principal], document: Document, *, cancel: bool, taken_back: Collection[str] = ()
) -> None:
    """In the transaction that destroys it: `HandOverPending` while a hand-over is under way, but for those that were
    taken back."""
    pending = set(await list_pending(work, document.id))
    if not pending and document.archive_status != PENDING:
        return
    if not cancel or not pending <= set(taken_back):
        raise HandOverPending
    await AuditLog(work).record(DocumentHandOverCancelled(document.id, document.kb_id, document.name))
