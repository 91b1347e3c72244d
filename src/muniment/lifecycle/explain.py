"""Explain why a document has its status, which moves are possible, and who may make them.

Rights and refusals come from `rules`, obstacles from `obstacles`: both are what the engine enforces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.tables import AuditEvent
from muniment.documents.handover_status import HandoverStatus
from muniment.documents.name_conflicts import DuplicateDocument
from muniment.documents.repository import DocumentRepository, RevisionRepository
from muniment.documents.runs import DocumentRunRepository, ProcessingRun
from muniment.documents.schemas import PENDING_DETAIL, PROCESSING_DETAIL
from muniment.documents.tables import Document, Revision, Status
from muniment.errors import MunimentError
from muniment.knowledge_bases.access import MANAGERS, Access, AccessLevel
from muniment.lifecycle.engine import MoveEngine, get_document_access
from muniment.lifecycle.obstacles import MoveContext, RestoreNameTaken, find_obstacle
from muniment.lifecycle.rules import REVERTED, RULES, Move, MoveNotAllowed, resolve_target
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Work
from muniment.storage.vectors.intents import IntentRepository

MAX_EVENTS = 50


@dataclass(frozen=True)
class DocumentFacts:
    """What the explanation of a document is based on."""

    document: Document
    run: ProcessingRun | None
    """The run of the current epoch, if it has not ended."""
    events: Sequence[AuditEvent] | None
    """Newest first. None if the caller may not read the audit trail."""
    failed_replacement: Revision | None = None
    index_update_pending: bool = False
    """True while an index intent is open: the index may not match the row yet."""


class ExplainRepository:
    """Queries that only an explanation needs."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_events(self, document_id: UUID) -> Sequence[AuditEvent]:
        """Return the newest audit events of the document."""
        events = select(AuditEvent).where(AuditEvent.document_id == document_id)
        return (await self._session.scalars(events.order_by(AuditEvent.id.desc()).limit(MAX_EVENTS))).all()


AUTOMATIC = "Muniment does this automatically"


@dataclass(frozen=True)
class MoveAssessment:
    """Whether one move can be made, and by whom."""

    move: Move
    is_possible: bool
    """Whether the document allows it, regardless of the caller."""
    is_allowed: bool
    """Whether it is possible and the caller may do it."""
    reason: str | None
    """Why it is not allowed."""
    by: Sequence[str]
    namesake_id: UUID | None = None
    """The document that has the name, if that is the reason."""


async def assess_moves(
    work: Work[Service], access: Access, document: Document, *, index_holds_copies: bool
) -> list[MoveAssessment]:
    """Assess every move of the rules.

    It reads as a service: members who may only view a document see neither its intents nor its hand-overs.
    """
    return [
        await _assess(MoveContext(work, move, access.kb, document, index_holds_copies, access=access)) for move in RULES
    ]


async def _assess(context: MoveContext) -> MoveAssessment:
    move, rule = context.move, RULES[context.move]
    if rule.is_automatic:
        return MoveAssessment(move, is_possible=False, is_allowed=False, reason=AUTOMATIC, by=["muniment"])
    by = [str(level) for level in AccessLevel if level in rule.allowed]
    if error := await _find_refusal(context):
        return MoveAssessment(
            move, is_possible=False, is_allowed=False, reason=error.message, by=by, namesake_id=_namesake_id(error)
        )
    if context.access.level not in rule.allowed:
        reason = f"Only {_join_roles(by)} can do this"
        return MoveAssessment(move, is_possible=True, is_allowed=False, reason=reason, by=by)
    return MoveAssessment(move, is_possible=True, is_allowed=True, reason=None, by=by)


async def _find_refusal(context: MoveContext) -> MunimentError | None:
    try:
        resolve_target(context.move, Status(context.document.status))
    except MoveNotAllowed as error:
        return error
    return await find_obstacle(context)


def _namesake_id(error: MunimentError) -> UUID | None:
    return error.existing_id if isinstance(error, DuplicateDocument | RestoreNameTaken) else None


def _join_roles(by: Sequence[str]) -> str:
    names = {"owner": "the owner", "admin": "an admin", "editor": "an editor"}
    *others, last = [names[level] for level in by]
    return f"{', '.join(others)} or {last}"


INTERRUPTED_NOTE = "Processing was interrupted and will be retried automatically."


REREAD_NOTE = "It is being reprocessed. The previous results stay available until that is done."


INDEX_UPDATE_NOTE = "The search index is being repaired."


HANDOVER_NOTE = "It is being sent to Paperless."


ADVICE: dict[tuple[Status, Move], str] = {
    (Status.PENDING, Move.CANCEL): "stop it with `cancel`",
    (Status.PROCESSING, Move.CANCEL): "stop it with `cancel`",
    (Status.COMPLETED, Move.ARCHIVE): "remove it from search with `archive`",
    (Status.FAILED, Move.RETRY): "process it again with `retry`",
    (Status.FAILED, Move.REVERT): "go back to the previous version with `replace/revert`",
    (Status.FAILED, Move.REPLACE): "upload another file with `replace`",
    (Status.FAILED, Move.CLEAR): "delete it with `clear`",
    **{(status, Move.RETRY_REPLACEMENT): "try the failed file again with `replace/retry`" for status in REVERTED},
    **{(status, Move.DISCARD_REPLACEMENT): "delete the failed file with `replace/failed`" for status in REVERTED},
    (Status.ARCHIVED, Move.RESTORE): "make it active again with `restore`",
    (Status.ARCHIVED, Move.PURGE): "delete it permanently with `purge`",
}


def describe_status(facts: DocumentFacts) -> str:
    """Return why the document has its status, in one or more sentences."""
    sentences = [_status_sentence(facts.document, facts.run)]
    if facts.run and facts.document.status == Status.COMPLETED:
        sentences.append(REREAD_NOTE)
    if facts.failed_replacement:
        sentences.append(_describe_failed_replacement(facts.failed_replacement))
    if facts.index_update_pending:
        sentences.append(INDEX_UPDATE_NOTE)
    if facts.document.archive_status == HandoverStatus.PENDING:
        sentences.append(HANDOVER_NOTE)
    return " ".join(sentences)


def _describe_failed_replacement(failed: Revision) -> str:
    assert failed.failure is not None
    at = datetime.fromisoformat(failed.failure["at"])
    return (
        f"A replacement with '{failed.name}' failed{_format_time(at)}, and this version was restored: "
        f"{failed.failure['message']}"
    )


def _status_sentence(document: Document, run: ProcessingRun | None) -> str:
    match Status(document.status):
        case Status.PENDING:
            return INTERRUPTED_NOTE if run and run.attempt else PENDING_DETAIL
        case Status.PROCESSING:
            return (
                f"{PROCESSING_DETAIL.removesuffix('.')}: {run.last_step}."
                if run and run.last_step
                else PROCESSING_DETAIL
            )
        case Status.COMPLETED:
            return f"Completed{_format_time(document.completed_at)}. It appears in search."
        case Status.FAILED:
            return f"Processing failed: {document.last_error or 'no reason recorded'}"
        case Status.ARCHIVED:
            return f"Archived{_format_time(document.archived_at)}. It does not appear in search until it is restored."


def _format_time(at: datetime | None) -> str:
    return f" on {at:%Y-%m-%d} at {at:%H:%M} UTC" if at else ""


def suggest_next_steps(facts: DocumentFacts, assessments: Sequence[MoveAssessment]) -> list[str]:
    """Return what the caller can do next, or whom they can ask to do it."""
    steps = []
    for assessment in assessments:
        advice = ADVICE.get((Status(facts.document.status), assessment.move))
        if advice and assessment.is_allowed:
            steps.append(f"You can {advice}.")
        elif advice and assessment.is_possible:
            steps.append(f"Ask {_join_roles(assessment.by)} to {advice}.")
    return steps


@dataclass(frozen=True)
class Explanation:
    """The answer to one request."""

    facts: DocumentFacts
    status_reason: str
    assessments: list[MoveAssessment]
    next_steps: list[str]


async def explain(engine: MoveEngine, caller: Principal, kb_id: UUID, document_id: UUID) -> Explanation:
    """Explain a document to anyone who may see it."""
    async with engine.database.work(caller) as work:
        access = await get_document_access(work, kb_id)
        document = await DocumentRepository(work.session).get(kb_id, document_id)
        run = await DocumentRunRepository(work.session).find_open(document.id, document.epoch)
        failed = await RevisionRepository(work.session).find_failed(document.id)
        events = await ExplainRepository(work.session).list_events(document.id) if access.level in MANAGERS else None
    holds_copies = engine.index.holds_copies
    async with engine.database.service_work(Service(caller.organization_id)) as work_of_service:
        assessments = await assess_moves(work_of_service, access, document, index_holds_copies=holds_copies)
        is_pending = holds_copies and await IntentRepository(work_of_service.session).exists(document.id)
    facts = DocumentFacts(document, run, events, failed, index_update_pending=is_pending)
    return Explanation(facts, describe_status(facts), assessments, suggest_next_steps(facts, assessments))
