"""Retry a failed document, or reread a completed one (docs/contracts.md#retry)."""

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
from muniment.lifecycle.engine import get_document_access
from muniment.lifecycle.obstacles import require_no_active_namesake
from muniment.lifecycle.rules import Move, resolve_target
from muniment.lifecycle.status import change_status
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import RunRequest, TaskQueue


class AlgorithmVersionUnavailable(Invalid):
    """This extraction version is not installed and has no stored results"""

    code = "VersionUnknown"


class RetriedConcurrently(Conflict):
    """Someone else changed this document. Reload and try again"""

    code = "Retried"


async def retry(
    work: Work[Principal], tasks: TaskQueue, kb_id: UUID, document_id: UUID, request: RunRequest
) -> Document:
    """Queue a failed document again, or a reread of a completed one, which shows its old result until the new is there.

    The caller knows that the version in `wish` can be had (`AlgorithmVersionUnavailable` otherwise).
    """
    access = await get_document_access(work, kb_id)
    access.require_upload()
    access.require_not_being_deleted()
    document = await DocumentRepository(work.session).lock(kb_id, document_id)
    if document.status == Status.COMPLETED:
        await reread(work, tasks, document, request)
    else:
        resolve_target(Move.RETRY, Status(document.status))
        await require_no_active_namesake(work, document)
        await _reset_processing(work, document)
        await _enqueue(work, tasks, document, replace(request, purpose="first"))
    await work.session.refresh(document)
    return document


async def reread(work: Work[Any], tasks: TaskQueue, document: Document, request: RunRequest) -> UUID:
    """Queue a reread of a completed document that the caller holds; the run's id."""
    await tasks.revoke_run(work, document.id, document.epoch)  # an earlier one that is still under way
    # From here on no older worker's write is accepted.
    await work.session.execute(
        update(Document)
        .where(Document.id == document.id)
        .values(epoch=Document.epoch + 1)
        .execution_options(synchronize_session=False)
    )
    return await _enqueue(work, tasks, document, replace(request, purpose="reread"))


async def _enqueue(work: Work[Any], tasks: TaskQueue, document: Document, request: RunRequest) -> UUID:
    event = DocumentRetried(document.id, document.kb_id, document.name, purpose=request.purpose, force=request.force)
    await AuditLog(work).record(event)
    return await tasks.enqueue_run(work, document.id, document.epoch + 1, request)


async def _reset_processing(work: Work[Principal], document: Document) -> None:
    columns = {"epoch": document.epoch + 1, "last_error": None, "processing_errors": None, "processing_status": None}
    try:
        async with work.session.begin_nested():
            await change_status(work.session, Move.RETRY, document.id, document.epoch, **columns)
    except IntegrityError:  # a namesake came between our look and the move: the constraint decides
        await require_no_active_namesake(work, document)
        raise RetriedConcurrently from None
