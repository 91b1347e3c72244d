"""Explain why a document has its status, which moves are possible, and who may make them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.tables import AuditEvent
from muniment.documents.repository import DocumentRepository
from muniment.documents.schemas import PENDING_DETAIL, PROCESSING_DETAIL
from muniment.documents.tables import ACTIVE, Document, Status
from muniment.knowledge_bases.access import MANAGERS, Access, AccessLevel
from muniment.lifecycle.engine import MoveEngine, get_document_access
from muniment.lifecycle.obstacles import HandoverPending, NothingToRevert
from muniment.lifecycle.revision_snapshots import find_snapshot
from muniment.lifecycle.rules import ALLOWED_LEVELS, AUTOMATIC_MOVES, RULES, Move, MoveNotAllowed, resolve_target
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Work

MAX_EVENTS = 50


# By name and not through the table: processing lies above this feature.
_OPEN_RUN = text("""
    SELECT run_id, purpose, status, attempt, last_step, created_at FROM document_processing_runs
     WHERE document_id = :document_id AND epoch = :epoch AND status IN ('queued', 'in_progress')
""")


_HAS_INTENT = text("SELECT EXISTS (SELECT FROM index_intents WHERE document_id = :document_id)")


@dataclass(frozen=True)
class OpenRun:
    id: UUID
    purpose: str
    status: str
    attempt: int
    last_step: str | None
    created_at: datetime


@dataclass(frozen=True)
class DocumentFacts:
    document: Document
    access_level: AccessLevel
    """Of the one who asks."""
    namesake: Document | None
    """Another one that is active under its name."""
    can_be_reverted: bool
    run: OpenRun | None
    events: Sequence[AuditEvent] | None
    """Newest first; none where the one who asks may not read the trail."""
    index_update_pending: bool = False
    """Nobody knows what the search index holds of it, until the sweep has told it."""


class ExplainRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_open_run(self, document_id: UUID, epoch: int) -> OpenRun | None:
        row = (await self._session.execute(_OPEN_RUN, {"document_id": document_id, "epoch": epoch})).one_or_none()
        return OpenRun(*row) if row else None

    async def list_events(self, document_id: UUID) -> Sequence[AuditEvent]:
        of_document = select(AuditEvent).where(AuditEvent.document_id == document_id)
        return (await self._session.scalars(of_document.order_by(AuditEvent.id.desc()).limit(MAX_EVENTS))).all()

    async def has_index_intent(self, document_id: UUID) -> bool:
        """Asked by the service: who may only look at a document does not see its intents."""
        return bool(await self._session.scalar(_HAS_INTENT, {"document_id": document_id}))


async def load_facts(work: Work[Principal], access: Access, document: Document) -> DocumentFacts:
    """All that the one who asks may know."""
    explaining = ExplainRepository(work.session)
    return DocumentFacts(
        document=document,
        access_level=access.level,
        namesake=await _find_namesake(work, document),
        can_be_reverted=await find_snapshot(work.session, document) is not None,
        run=await explaining.find_open_run(document.id, document.epoch),
        events=await explaining.list_events(document.id) if access.level in MANAGERS else None,
    )


async def _find_namesake(work: Work[Principal], document: Document) -> Document | None:
    if document.status in ACTIVE:
        return None  # it has the name itself
    return await DocumentRepository(work.session).find_active(document.kb_id, document.name_key)


AUTOMATIC = "Muniment does this automatically"


INDEX_UPDATE_PENDING = "The search index is being repaired. Try again shortly"


NAME_TAKEN = {
    Move.RESTORE: "Cannot restore: a document with this name already exists",
    Move.RETRY: "A document with this name already exists",
    Move.REVERT: "A document with this name already exists",
}


@dataclass(frozen=True)
class MoveAssessment:
    move: Move
    is_possible: bool
    """As far as the document is concerned, whoever asks."""
    is_allowed: bool
    """And the one who asks may."""
    reason: str | None
    """Why not."""
    by: Sequence[str]
    namesake_id: UUID | None = None
    """Of a document that is in the way."""


def assess_moves(facts: DocumentFacts) -> list[MoveAssessment]:
    """Every move of the rules."""
    return [_assess(facts, move) for move in RULES]


def _assess(facts: DocumentFacts, move: Move) -> MoveAssessment:
    if move in AUTOMATIC_MOVES:
        return MoveAssessment(move, is_possible=False, is_allowed=False, reason=AUTOMATIC, by=["muniment"])
    by = [str(standing) for standing in ALLOWED_LEVELS[move]]
    if reason := next((found for obstacle in OBSTACLES if (found := obstacle(facts, move))), None):
        namesake_id = facts.namesake.id if facts.namesake and reason == NAME_TAKEN.get(move) else None
        return MoveAssessment(move, is_possible=False, is_allowed=False, reason=reason, by=by, namesake_id=namesake_id)
    if facts.access_level not in ALLOWED_LEVELS[move]:
        return MoveAssessment(
            move, is_possible=True, is_allowed=False, reason=f"Only {_join_roles(by)} can do this", by=by
        )
    return MoveAssessment(move, is_possible=True, is_allowed=True, reason=None, by=by)


def _join_roles(by: Sequence[str]) -> str:
    articles = {"owner": "the owner", "admin": "an admin", "editor": "an editor"}
    *some, last = [articles[standing] for standing in by]
    return f"{', '.join(some)} or {last}"


def _status_obstacle(facts: DocumentFacts, move: Move) -> str | None:
    status = Status(facts.document.status)
    if move is Move.RETRY and status is Status.COMPLETED:
        return None  # a reread, which leaves the status alone
    try:
        resolve_target(move, status)
    except MoveNotAllowed as refused:
        return refused.message
    return None


def _revision_obstacle(facts: DocumentFacts, move: Move) -> str | None:
    return NothingToRevert().message if move is Move.REVERT and not facts.can_be_reverted else None


def _name_obstacle(facts: DocumentFacts, move: Move) -> str | None:
    return NAME_TAKEN.get(move) if facts.namesake else None


def _index_obstacle(facts: DocumentFacts, move: Move) -> str | None:
    return INDEX_UPDATE_PENDING if facts.index_update_pending and move in (Move.ARCHIVE, Move.RESTORE) else None


def _handover_obstacle(facts: DocumentFacts, move: Move) -> str | None:
    return HandoverPending().message if move is Move.PURGE and facts.document.archive_status == "pending" else None


OBSTACLES: Sequence[Callable[[DocumentFacts, Move], str | None]] = (
    _status_obstacle,
    _revision_obstacle,
    _name_obstacle,
    _index_obstacle,
    _handover_obstacle,
)
"""The first that is in the way is told."""


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
    (Status.ARCHIVED, Move.RESTORE): "make it active again with `restore`",
    (Status.ARCHIVED, Move.PURGE): "delete it permanently with `purge`",
}


def describe_status(facts: DocumentFacts) -> str:
    said = [_status_sentence(facts.document, facts.run)]
    if facts.run and facts.document.status == Status.COMPLETED:
        said.append(REREAD_NOTE)
    if facts.index_update_pending:
        said.append(INDEX_UPDATE_NOTE)
    if facts.document.archive_status == "pending":
        said.append(HANDOVER_NOTE)
    return " ".join(said)


def _status_sentence(document: Document, run: OpenRun | None) -> str:
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
    """What can be done next, by the one who asks or by those whom they can ask."""
    advice = []
    for judgement in assessments:
        deed = ADVICE.get((Status(facts.document.status), judgement.move))
        if deed and judgement.is_allowed:
            advice.append(f"You can {deed}.")
        elif deed and judgement.is_possible:
            advice.append(f"Ask the owner or an admin to {deed}.")
    return advice


@dataclass(frozen=True)
class Explanation:
    facts: DocumentFacts
    status_reason: str
    assessments: list[MoveAssessment]
    next_steps: list[str]


async def explain(engine: MoveEngine, caller: Principal, kb_id: UUID, document_id: UUID) -> Explanation:
    """To anybody who may see the document: why it is where it is, and what can be done with it by whom."""
    async with engine.database.work(caller) as work:
        access = await get_document_access(work, kb_id)
        document = await DocumentRepository(work.session).get(kb_id, document_id)
        facts = await load_facts(work, access, document)
    facts = replace(facts, index_update_pending=await _has_pending_index_update(engine, caller, document_id))
    judgements = assess_moves(facts)
    return Explanation(facts, describe_status(facts), judgements, suggest_next_steps(facts, judgements))


async def _has_pending_index_update(engine: MoveEngine, caller: Principal, document_id: UUID) -> bool:
    if not engine.index.holds_copies:
        return False
    async with engine.database.service_work(Service(caller.organization_id)) as work:
        return await ExplainRepository(work.session).has_index_intent(document_id)
