"""A document that is on its way to the archive is not destroyed under the archiver's hands."""

from sqlalchemy import update

from muniment.documents.tables import Document
from muniment.errors import Conflict
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

PENDING = "pending"


class HandOverPending(Conflict):
    """The document is being handed over to the archive: wait until that is done, or purge with cancel_hand_over=true"""


async def require_no_hand_over(work: Work[Principal], document: Document, *, cancel: bool) -> None:
    """`HandOverPending` while one is under way, unless it is to be cancelled."""
    if document.archive_status != PENDING:
        return
    if not cancel:
        raise HandOverPending
    await cancel_hand_over(work, document)


async def cancel_hand_over(work: Work[Principal], document: Document) -> None:
    """Forget that the document waits to be handed over: its columns are reset, and nothing else is.

    The archive queue does not exist yet; when it does, its object is taken back here, and one that the archiver has
    begun with refuses.
    """
    await work.session.execute(
        update(Document)
        .where(Document.id == document.id)
        .values(archive_status=None, archive_job_id=None)
        .execution_options(synchronize_session=False)
    )
