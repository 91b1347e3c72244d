"""Retry a failed document, or reread a completed one (docs/contracts.md#retry)."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from muniment.artifacts.keys import READING_VERSION
from muniment.artifacts.repository import ArtifactRepository
from muniment.audit.events import DocumentRetried
from muniment.audit.log import AuditLog
from muniment.documents.repository import DocumentRepository, RevisionRepository
from muniment.documents.tables import Document, Revision, Status
from muniment.errors import Invalid
from muniment.lifecycle.engine import DocumentMove, MoveEngine, Target, get_document_access
from muniment.lifecycle.obstacles import DocumentChangedConcurrently, MoveContext, find_obstacle
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import RunRequest, TaskQueue


class AlgorithmVersionUnavailable(Invalid):
    """This extraction version is not installed and has no stored results"""

    code = "VersionUnknown"


@dataclass(frozen=True)
class Retried:
    """A document that was queued again, and the failed replacement that it keeps."""

    document: Document
    failed_replacement: Revision | None


class Retry(DocumentMove[Retried]):
    """Queue a failed document again, or a completed one, whose previous result stays available until it is done."""

    move = Move.RETRY

    def __init__(self, request: RunRequest) -> None:
        self._request = request

    async def prepare(self, engine: MoveEngine, target: Target) -> None:
        """Raise `AlgorithmVersionUnavailable` if the requested version can neither be computed nor reused."""
        version = self._request.algorithm_version
        if version is None or version == READING_VERSION:
            return
        async with engine.database.work(target.caller) as work:
            (await get_document_access(work, target.kb_id)).require_upload()
            document = await DocumentRepository(work.session).get(target.kb_id, target.document_id)
        async with engine.database.service_work(Service(document.organization_id)) as service:
            stored = await ArtifactRepository(service.session).find_newest(document.content_hmac, version)
        if stored is None:
            raise AlgorithmVersionUnavailable

    async def apply(self, context: MoveContext, engine: MoveEngine) -> Retried:
        work, document = context.work, context.document
        if document.status == Status.COMPLETED:
            await reread(work, engine.tasks, document, self._request)
        else:
            await _reset_processing(context)
            await _enqueue(work, engine.tasks, document, replace(self._request, purpose="first"))
        await work.session.refresh(document)
        await engine.quotas.enforce(work)
        return Retried(document, await RevisionRepository(work.session).find_failed(document.id))


async def reread(work: Work[Any], tasks: TaskQueue, document: Document, request: RunRequest) -> UUID:
    """Queue a reread of a completed document that the caller has locked. Return the id of its run."""
    await tasks.revoke_run(work, document.id, document.epoch)  # an earlier reread in progress
    # From here on, no write of an older worker is accepted.
    await change_status(work.session, Move.RETRY, document.id, document.epoch, epoch=document.epoch + 1)
    return await _enqueue(work, tasks, document, replace(request, purpose="reread"))


async def _enqueue(work: Work[Any], tasks: TaskQueue, document: Document, request: RunRequest) -> UUID:
    event = DocumentRetried(document.id, document.kb_id, document.name, purpose=request.purpose, force=request.force)
    await AuditLog(work).record(event)
    return await tasks.enqueue_run(work, document.id, document.epoch + 1, request)


async def _reset_processing(context: MoveContext) -> None:
    work, document = context.work, context.document
    columns = {"epoch": document.epoch + 1, "last_error": None, "processing_errors": None, "processing_status": None}
    try:
        async with work.session.begin_nested():
            await change_status(work.session, Move.RETRY, document.id, document.epoch, **columns)
    except IntegrityError:  # the name was taken after the check: the constraint decides
        raise await find_obstacle(context) or DocumentChangedConcurrently() from None
