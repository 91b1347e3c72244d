"""Make a document show an artifact and finish its run: in one transaction for known content, a reread and a
replacement.
"""

from uuid import UUID

from sqlalchemy import exists, func, select

from muniment.artifacts.keys import ALGORITHM_VERSION
from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import FullText
from muniment.documents.handovers import wish_hand_over
from muniment.documents.purge import destroy_revisions
from muniment.documents.repository import RevisionRepository
from muniment.documents.runs import RunStatus
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandOverPolicy
from muniment.lifecycle.rules import Move
from muniment.lifecycle.status import carry_out
from muniment.processing.results.hydration import save_diagrams, save_metrics, save_pages, save_paragraphs
from muniment.processing.runs.repository import ClaimedRun, RunRepository, Superseded
from muniment.processing.runs.tables import StepStatus
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

BASIC_COMPLETE = "basic_complete"


PROCESSED = frozenset({BASIC_COMPLETE, "analysis_complete"})


async def find_wanted(work: Work[Service], run: ClaimedRun, key: ArtifactKey) -> FullText | None:
    """What this run is to show, if somebody computed it already. An older version is taken as it was stored."""
    artifacts = ArtifactRepository(work.session)
    if run.algorithm_version in (None, ALGORITHM_VERSION):
        return await artifacts.find(key)
    return await artifacts.find_newest(key.content_key, run.algorithm_version)


async def attach(work: Work[Service], run: ClaimedRun, full: FullText, *, was_known: bool) -> bool:
    """Whether another document of this organization shows it already."""
    another = exists().where(Document.artifact_text_id == full.id, Document.id != run.document_id)
    is_shown = was_known and bool(await work.session.scalar(select(another)))
    # Only then: what other organizations have must not show, not even as a sum.
    saved = float((full.timings or {}).get("seconds", 0)) if is_shown else None
    await RunRepository(work.session).attach(run, full.id, saved)
    return is_shown


async def show(work: Work[Service], run: ClaimedRun, text_id: UUID, *, is_shown: bool) -> None:
    """Everything that the nodes between reading and the end do, at once. Where another document shows it already, its
    diagrams were made before that: a thousand pages need not be looked through for them."""
    if not is_shown:
        await ArtifactRepository(work.session).add_diagrams(text_id)
    await save_pages(work.session, run, text_id)
    await save_paragraphs(work.session, run, text_id)
    await save_diagrams(work.session, run, text_id)
    await save_metrics(work.session, run, text_id)


async def mark_started(work: Work[Service], run: ClaimedRun) -> None:
    """A reread leaves the document as it is until it has something better."""
    if run.is_reread:
        return
    started = func.coalesce(Document.processing_started_at, func.now())
    columns = {"processing_status": "processing", "processing_started_at": started}
    if not await carry_out(work.session, Move.START, run.document_id, run.epoch, **columns):
        raise Superseded


async def _let_earlier_revisions_go(work: Work[Service], run: ClaimedRun) -> None:
    """Not before: until this moment a replacement can be put back. What was read from them is left to the garbage
    collection (DESIGN §8)."""
    if run.revision == 1:
        return
    document = await work.session.get_one(Document, run.document_id)
    await destroy_revisions(work, document, besides=run.revision, reason="replaced", with_artifacts=False)
    await RevisionRepository(work.session).forget_shelf(run.document_id, run.revision)


async def mark_complete(work: Work[Service], run: ClaimedRun) -> None:
    if not run.is_reread:
        at = now()
        columns = {
            "processing_status": BASIC_COMPLETE,
            "processing_completed_at": at,
            "completed_at": at,
            "processing_errors": None,
            "last_error": None,
        }
        if not await carry_out(work.session, Move.COMPLETE, run.document_id, run.epoch, **columns):
            raise Superseded
        await _let_earlier_revisions_go(work, run)
        await wish_hand_over(work, run.document_id, HandOverPolicy.ON_COMPLETED)
    await RunRepository(work.session).end(run, RunStatus.COMPLETED)


async def fail(work: Work[Service], run: ClaimedRun, *, step: str, code: str, message: str) -> None:
    """The run fails, and the document with it; a reread that fails changes nothing but its run."""
    runs = RunRepository(work.session)
    error = {"code": code, "message": message, "step": step}
    await runs.enter_steps(run, {step: StepStatus.FAILED}, error=error)
    await runs.end(run, RunStatus.FAILED, error)
    if run.is_reread:
        return
    columns = {"processing_status": "failed", "processing_errors": [error], "last_error": message}
    if not await carry_out(work.session, Move.FAIL, run.document_id, run.epoch, **columns):
        raise Superseded
