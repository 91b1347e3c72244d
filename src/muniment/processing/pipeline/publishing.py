"""Make a document show an artifact, and complete or fail its run."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from uuid import UUID

import structlog
from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.documents.handovers import request_handover
from muniment.documents.purge import purge_revisions
from muniment.documents.repository import ANALYSIS_COMPLETE, BASIC_COMPLETE, RevisionRepository
from muniment.documents.runs import RunStatus
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandoverPolicy
from muniment.lifecycle.moves.automatic_revert import AutomaticRevert, ReplacementFailure
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import change_status
from muniment.processing.pipeline.cleanup import delete_unused_artifact
from muniment.processing.results.hydration import Hydration, save_diagrams, save_metrics, save_pages, save_paragraphs
from muniment.processing.runs.repository import ClaimedRun, RunRepository, RunSuperseded
from muniment.processing.runs.tables import StepStatus
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import LedgerRepository
from muniment.telemetry.metrics import ARTIFACTS

INTERNAL_ERROR = "internal"
"""Code of every failure that is not the file's fault."""


PROCESSED_STATUSES = frozenset({BASIC_COMPLETE, ANALYSIS_COMPLETE})


log = structlog.get_logger()


PublishStep = Callable[[AsyncSession, Hydration], Awaitable[None]]


async def _add_missing_diagrams(session: AsyncSession, hydration: Hydration) -> None:
    if hydration.has_new_figures:
        await ArtifactRepository(session).add_missing_diagrams(hydration.artifact_id)


PUBLISH_STEPS: Mapping[str, PublishStep] = {
    "SavePages": save_pages,
    "SaveParagraphs": save_paragraphs,
    "AggregateDiagrams": _add_missing_diagrams,
    "SaveDiagrams": save_diagrams,
    "UpdateMetrics": save_metrics,
}
"""Steps that make a document show an artifact. Their nodes only record them; `publish` applies all in the transaction
that completes the run, so that nobody sees half a result."""


async def pin_artifact(work: Work[Service], run: ClaimedRun, artifact: TextArtifact, *, is_reused: bool) -> bool:
    """Protect the artifact from garbage collection until the run ends.

    Return whether another document of this organization already shows it.
    """
    another = exists().where(Document.artifact_text_id == artifact.id, Document.id != run.document_id)
    is_shown = is_reused and bool(await work.session.scalar(select(another)))
    # Savings count only within the organization: what others have stored must not show, not even in a sum.
    saved = float((artifact.timings or {}).get("seconds", 0)) if is_shown else None
    await RunRepository(work.session).set_artifact(run, artifact.id, saved)
    if is_reused:
        ARTIFACTS.labels("hit").inc()
    return is_shown


async def publish(work: Work[Service], run: ClaimedRun, artifact_id: UUID, *, has_diagrams: bool = False) -> None:
    """Apply all publish steps in order.

    `has_diagrams` skips the search for diagrams: they exist already if another document shows this artifact.
    """
    hydration = await Hydration.find(work.session, run, artifact_id, may_have_figures=not has_diagrams)
    for apply in PUBLISH_STEPS.values():
        await apply(work.session, hydration)


async def mark_started(work: Work[Service], run: ClaimedRun) -> None:
    """Mark the document as being processed. A reread leaves it as it is until the new result is complete."""
    if run.is_reread:
        return
    started = func.coalesce(Document.processing_started_at, func.now())
    columns = {"processing_status": "processing", "processing_started_at": started}
    if not await change_status(work.session, Move.START, run.document_id, run.epoch, **columns):
        raise RunSuperseded


async def _delete_earlier_revisions(work: Work[Service], run: ClaimedRun) -> None:
    """Delete earlier revisions. This runs at completion because a replacement can be reverted until then.

    Their artifacts are left to the garbage collection (docs/design.md#garbage-collection).
    """
    if run.revision == 1:
        return
    document = await work.session.get_one(Document, run.document_id)
    await purge_revisions(work, document, keep=[run.revision], reason="replaced", delete_artifacts=False)
    await RevisionRepository(work.session).clear_snapshot(run.document_id, run.revision)


async def complete_run(work: Work[Service], run: ClaimedRun) -> None:
    """Complete the document, request its hand-over and finish the run. A reread finishes its run only."""
    if not run.is_reread:
        completed_at = now()
        columns = {
            "processing_status": BASIC_COMPLETE,
            "processing_completed_at": completed_at,
            "completed_at": completed_at,
            "processing_errors": None,
            "last_error": None,
        }
        if not await change_status(work.session, Move.COMPLETE, run.document_id, run.epoch, **columns):
            raise RunSuperseded
        await _delete_earlier_revisions(work, run)
        await request_handover(work, run.document_id, HandoverPolicy.ON_COMPLETED)
    await RunRepository(work.session).finish(run, RunStatus.COMPLETED)


def log_completed(run: ClaimedRun, *, pages: int, unread_pages: int) -> None:
    """Log the completion of a run, after its commit."""
    ids = {"run_id": str(run.run_id), "document_id": str(run.document_id)}
    log.info("processing.completed", **ids, pages=pages, unread_pages=unread_pages)


async def fail_run(
    work: Work[Service],
    run: ClaimedRun,
    *,
    step: str,
    code: str,
    message: str,
    automatic_revert: AutomaticRevert,
) -> Sequence[UUID]:
    """Fail the run and its document, and delete what nobody else uses of its results.

    A failed reread changes nothing but its run. A replacement that fails because of its file is reverted instead, if it
    can be. Return ledger entries to be processed after the commit.
    """
    runs = RunRepository(work.session)
    error = {"code": code, "message": message, "step": step}
    await runs.record_steps(run, {step: StepStatus.FAILED}, error=error)
    _, artifact_id = await runs.find_state(run)
    await runs.finish(run, RunStatus.FAILED, error)
    await _fail_document(work, run, error, automatic_revert)
    released = await LedgerRepository(work.session).release_reservations(run.document_id)
    return [*released, *(await delete_unused_artifact(work, artifact_id) if artifact_id else ())]


async def _fail_document(
    work: Work[Service], run: ClaimedRun, error: Mapping[str, str], automatic_revert: AutomaticRevert
) -> None:
    if run.is_reread:
        return
    if error["code"] != INTERNAL_ERROR and run.revision > 1:
        failure = ReplacementFailure(error["code"], error["message"], now())
        if await automatic_revert.apply(work, run.document_id, failure):
            return
    columns = {"processing_status": "failed", "processing_errors": [error], "last_error": error["message"]}
    if not await change_status(work.session, Move.FAIL, run.document_id, run.epoch, **columns):
        raise RunSuperseded
