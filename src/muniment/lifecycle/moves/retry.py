"""Retry a failed document, or reread a completed one (specs/artifacts.md §5.4)."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from muniment.audit.events import DocumentRetried
from muniment.audit.log import AuditLog
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.errors import Conflict, Invalid
from muniment.lifecycle.engine import require_member
from muniment.lifecycle.obstacles import _require_free_name
from muniment.lifecycle.rules import Move, target
from muniment.lifecycle.status import carry_out
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import RunWish, Tasks


class VersionUnknown(Invalid):
    """This extraction version is not installed and has no stored results"""


class Retried(Conflict):
    """Someone else changed this document. Reload and try again"""


async def retry(work: Work[Principal], tasks: Tasks, kb_id: UUID, document_id: UUID, wish: RunWish) -> Document:
    """Queue a failed document again, or a reread of a completed one, which shows its old result until the new is there.

    The caller knows that the version in `wish` can be had (`VersionUnknown` otherwise).
    """
    access = await require_member(work, kb_id)
    access.require_upload()
    access.require_staying()
    document = await DocumentRepository(work.session).lock(kb_id, document_id)
    if document.status == Status.COMPLETED:
        await reread(work, tasks, document, wish)
    else:
        target(Move.RETRY, Status(document.status))
        await _require_free_name(work, document)
        await _begin_again(work, document)
        await _queue(work, tasks, document, replace(wish, purpose="first"))
    await work.session.refresh(document)
    return document


async def reread(work: Work[Any], tasks: Tasks, document: Document, wish: RunWish) -> UUID:
    """Queue a reread of a completed document that the caller holds; the run's id."""
    await tasks.revoke_run(work, document.id, document.epoch)  # an earlier one that is still under way
    # From here on no older worker's write is accepted.
    await work.session.execute(
        update(Document)
        .where(Document.id == document.id)
        .values(epoch=Document.epoch + 1)
        .execution_options(synchronize_session=False)
    )
    return await _queue(work, tasks, document, replace(wish, purpose="reread"))


async def _queue(work: Work[Any], tasks: Tasks, document: Document, wish: RunWish) -> UUID:
    event = DocumentRetried(document.id, document.kb_id, document.name, purpose=wish.purpose, force=wish.force)
    await AuditLog(work).record(event)
    return await tasks.enqueue_run(work, document.id, document.epoch + 1, wish)


async def _begin_again(work: Work[Principal], document: Document) -> None:
    columns = {"epoch": document.epoch + 1, "last_error": None, "processing_errors": None, "processing_status": None}
    try:
        async with work.session.begin_nested():
            await carry_out(work.session, Move.RETRY, document.id, document.epoch, **columns)
    except IntegrityError:  # a namesake came between our look and the move: the constraint decides
        await _require_free_name(work, document)
        raise Retried from None
