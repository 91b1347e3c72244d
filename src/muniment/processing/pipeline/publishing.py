"""Make a document show an artifact and finish its run: in one transaction for known content, a reread and a
replacement.
"""

from uuid import UUID

from sqlalchemy import exists, func, select

from muniment.artifacts.keys import READING_VERSION
from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.documents.handovers import request_handover
from muniment.documents.purge import purge_revisions
from muniment.documents.repository import RevisionRepository
from muniment.documents.runs import RunStatus
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandoverPolicy
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.processing.results.hydration import save_diagrams, save_metrics, save_pages, save_paragraphs
from muniment.processing.runs.repository import ClaimedRun, RunRepository, RunSuperseded
from muniment.processing.runs.tables import StepStatus
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

BASIC_COMPLETE = "basic_complete"


PROCESSED_STATUSES = frozenset({BASIC_COMPLETE, "analysis_complete"})


async def find_reusable_artifact(work: Work[Service], run: ClaimedRun, key: ArtifactKey) -> TextArtifact | None:
    """What this run is to show, if somebody computed it already. An older version is taken as it was stored."""
    artifacts = ArtifactRepository(work.session)
    if run.algorithm_version in (None, READING_VERSION):
        return await artifacts.find(key)
    return await artifacts.find_newest(key.content_key, run.algorithm_version)


async def pin_artifact(work: Work[Service], run: ClaimedRun, artifact: TextArtifact, *, is_reused: bool) -> bool:
    """Whether another document of this organization shows it already."""
    another = exists().where(Document.artifact_text_id == artifact.id, Document.id != run.document_id)
    is_shown = is_reused and bool(await work.session.scalar(select(another)))
    # Only then: what other organizations have must not show, not even as a sum.
    saved = float((artifact.timings or {}).get("seconds", 0)) if is_shown else None
    await RunRepository(work.session).set_artifact(run, artifact.id, saved)
    return is_shown


async def publish(work: Work[Service], run: ClaimedRun, artifact_id: UUID, *, has_diagrams: bool) -> None:
    """Everything that the nodes between reading and the end do, at once. Where another document shows it already, its
    diagrams were made before that: a thousand pages need not be looked through for them."""
    if not has_diagrams:
        await ArtifactRepository(work.session).add_missing_diagrams(artifact_id)
    await save_pages(work.session, run, artifact_id)
    await save_paragraphs(work.session, run, artifact_id)
    await save_diagrams(work.session, run, artifact_id)
    await save_metrics(work.session, run, artifact_id)


async def mark_started(work: Work[Service], run: ClaimedRun) -> None:
    """A reread leaves the document as it is until it has something better."""
    if run.is_reread:
        return
    started = func.coalesce(Document.processing_started_at, func.now())
    columns = {"processing_status": "processing", "processing_started_at": started}
    if not await change_status(work.session, Move.START, run.document_id, run.epoch, **columns):
        raise RunSuperseded


async def _delete_earlier_revisions(work: Work[Service], run: ClaimedRun) -> None:
    """Not before: until this moment a replacement can be put back. What was read from them is left to the garbage
    collection (docs/design.md#garbage-collection)."""
    if run.revision == 1:
        return
    document = await work.session.get_one(Document, run.document_id)
    await purge_revisions(work, document, keep=run.revision, reason="replaced", delete_artifacts=False)
    await RevisionRepository(work.session).clear_snapshot(run.document_id, run.revision)


async def complete_run(work: Work[Service], run: ClaimedRun) -> None:
    if not run.is_reread:
        at = now()
        columns = {
            "processing_status": BASIC_COMPLETE,
            "processing_completed_at": at,
            "completed_at": at,
            "processing_errors": None,
            "last_error": None,
        }
        if not await change_status(work.session, Move.COMPLETE, run.document_id, run.epoch, **columns):
            raise RunSuperseded
        await _delete_earlier_revisions(work, run)
        await request_handover(work, run.document_id, HandoverPolicy.ON_COMPLETED)
    await RunRepository(work.session).finish(run, RunStatus.COMPLETED)


async def fail_run(work: Work[Service], run: ClaimedRun, *, step: str, code: str, message: str) -> None:
    """The run fails, and the document with it; a reread that fails changes nothing but its run."""
    runs = RunRepository(work.session)
    error = {"code": code, "message": message, "step": step}
    await runs.record_steps(run, {step: StepStatus.FAILED}, error=error)
    await runs.finish(run, RunStatus.FAILED, error)
    if run.is_reread:
        return
    columns = {"processing_status": "failed", "processing_errors": [error], "last_error": message}
    if not await change_status(work.session, Move.FAIL, run.document_id, run.epoch, **columns):
        raise RunSuperseded
