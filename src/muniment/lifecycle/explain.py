"""Explain why a document has its status, which moves are possible, and who may make them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.tables import AuditEvent
from muniment.documents.repository import DocumentRepository
from muniment.documents.schemas import READING, WAITING
from muniment.documents.tables import ACTIVE, Document, Status
from muniment.knowledge_bases.access import MANAGES, Access, Standing
from muniment.lifecycle.engine import Mover, require_member
from muniment.lifecycle.obstacles import HandOverPending, NothingToRevert
from muniment.lifecycle.revision_snapshots import find_shelf
from muniment.lifecycle.rules import BY_MUNIMENT, RULES, WHO_MAY, IllegalMove, Move, target
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Work

EVENTS = 50


# By name and not through the table: processing lies above this feature.
_OPEN_RUN = text("""
    SELECT run_id, purpose, status, attempt, last_step, created_at FROM document_processing_runs
     WHERE document_id = :document_id AND epoch = :epoch AND status IN ('queued', 'in_progress')
""")


_INTENDS = text("SELECT EXISTS (SELECT FROM index_intents WHERE document_id = :document_id)")


@dataclass(frozen=True)
class OpenRun:
    id: UUID
    purpose: str
    status: str
    attempt: int
    last_step: str | None
    created_at: datetime


@dataclass(frozen=True)
class Facts:
    document: Document
    standing: Standing
    """Of the one who asks."""
    namesake: Document | None
    """Another one that is active under its name."""
    can_be_reverted: bool
    run: OpenRun | None
    events: Sequence[AuditEvent] | None
    """Newest first; none where the one who asks may not read the trail."""
    is_being_put_back: bool = False
    """Nobody knows what the search index holds of it, until the sweep has told it."""


class ExplainRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_open_run(self, document_id: UUID, epoch: int) -> OpenRun | None:
        row = (await self._session.execute(_OPEN_RUN, {"document_id": document_id, "epoch": epoch})).one_or_none()
        return OpenRun(*row) if row else None

    async def list_events(self, document_id: UUID) -> Sequence[AuditEvent]:
        of_document = select(AuditEvent).where(AuditEvent.document_id == document_id)
        return (await self._session.scalars(of_document.order_by(AuditEvent.id.desc()).limit(EVENTS))).all()

    async def is_being_put_back(self, document_id: UUID) -> bool:
        """Asked by the service: who may only look at a document does not see its intents."""
        return bool(await self._session.scalar(_INTENDS, {"document_id": document_id}))


async def gather(work: Work[Principal], access: Access, document: Document) -> Facts:
    """All that the one who asks may know."""
    explaining = ExplainRepository(work.session)
    return Facts(
        document=document,
        standing=access.standing,
        namesake=await _find_namesake(work, document),
        can_be_reverted=await find_shelf(work.session, document) is not None,
        run=await explaining.find_open_run(document.id, document.epoch),
        events=await explaining.list_events(document.id) if access.standing in MANAGES else None,
    )


async def _find_namesake(work: Work[Principal], document: Document) -> Document | None:
    if document.status in ACTIVE:
        return None  # it has the name itself
    return await DocumentRepository(work.session).find_active(document.kb_id, document.name_key)


ITSELF = "Muniment does this automatically"


INDEX_UPDATE_PENDING = "The search index is being repaired. Try again shortly"


NAMESAKE = {
    Move.RESTORE: "Cannot restore: a document with this name already exists",
    Move.RETRY: "A document with this name already exists",
    Move.REVERT: "A document with this name already exists",
}


@dataclass(frozen=True)
class Judgement:
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


def judge(facts: Facts) -> list[Judgement]:
    """Every move of the rules."""
    return [_judge(facts, move) for move in RULES]


def _judge(facts: Facts, move: Move) -> Judgement:
    if move in BY_MUNIMENT:
        return Judgement(move, is_possible=False, is_allowed=False, reason=ITSELF, by=["muniment"])
    by = [str(standing) for standing in WHO_MAY[move]]
    if reason := next((found for obstacle in OBSTACLES if (found := obstacle(facts, move))), None):
        namesake_id = facts.namesake.id if facts.namesake and reason == NAMESAKE.get(move) else None
        return Judgement(move, is_possible=False, is_allowed=False, reason=reason, by=by, namesake_id=namesake_id)
    if facts.standing not in WHO_MAY[move]:
        return Judgement(move, is_possible=True, is_allowed=False, reason=f"Only {_named(by)} can do this", by=by)
    return Judgement(move, is_possible=True, is_allowed=True, reason=None, by=by)


def _named(by: Sequence[str]) -> str:
    articles = {"owner": "the owner", "admin": "an admin", "editor": "an editor"}
    *some, last = [articles[standing] for standing in by]
    return f"{', '.join(some)} or {last}"


def _status(facts: Facts, move: Move) -> str | None:
    status = Status(facts.document.status)
    if move is Move.RETRY and status is Status.COMPLETED:
        return None  # a reread, which leaves the status alone
    try:
        target(move, status)
    except IllegalMove as refused:
        return refused.message
    return None


def _revision(facts: Facts, move: Move) -> str | None:
    return NothingToRevert().message if move is Move.REVERT and not facts.can_be_reverted else None


def _name(facts: Facts, move: Move) -> str | None:
    return NAMESAKE.get(move) if facts.namesake else None


def _index(facts: Facts, move: Move) -> str | None:
    return INDEX_UPDATE_PENDING if facts.is_being_put_back and move in (Move.ARCHIVE, Move.RESTORE) else None


def _hand_over(facts: Facts, move: Move) -> str | None:
    return HandOverPending().message if move is Move.PURGE and facts.document.archive_status == "pending" else None


OBSTACLES: Sequence[Callable[[Facts, Move], str | None]] = (_status, _revision, _name, _index, _hand_over)
"""The first that is in the way is told."""


INTERRUPTED = "Processing was interrupted and will be retried automatically."


REREAD = "It is being reprocessed. The previous results stay available until that is done."


INDEX_UPDATE_NOTE = "The search index is being repaired."


HANDING_OVER = "It is being sent to Paperless."


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


def why(facts: Facts) -> str:
    said = [_of_status(facts.document, facts.run)]
    if facts.run and facts.document.status == Status.COMPLETED:
        said.append(REREAD)
    if facts.is_being_put_back:
        said.append(INDEX_UPDATE_NOTE)
    if facts.document.archive_status == "pending":
        said.append(HANDING_OVER)
    return " ".join(said)


def _of_status(document: Document, run: OpenRun | None) -> str:
    match Status(document.status):
        case Status.PENDING:
            return INTERRUPTED if run and run.attempt else WAITING
        case Status.PROCESSING:
            return f"{READING.removesuffix('.')}: {run.last_step}." if run and run.last_step else READING
        case Status.COMPLETED:
            return f"Completed{_on(document.completed_at)}. It appears in search."
        case Status.FAILED:
            return f"Processing failed: {document.last_error or 'no reason recorded'}"
        case Status.ARCHIVED:
            return f"Archived{_on(document.archived_at)}. It does not appear in search until it is restored."


def _on(at: datetime | None) -> str:
    return f" on {at:%Y-%m-%d} at {at:%H:%M} UTC" if at else ""


def advise(facts: Facts, judgements: Sequence[Judgement]) -> list[str]:
    """What can be done next, by the one who asks or by those whom they can ask."""
    advice = []
    for judgement in judgements:
        deed = ADVICE.get((Status(facts.document.status), judgement.move))
        if deed and judgement.is_allowed:
            advice.append(f"You can {deed}.")
        elif deed and judgement.is_possible:
            advice.append(f"Ask the owner or an admin to {deed}.")
    return advice


@dataclass(frozen=True)
class Explanation:
    facts: Facts
    why: str
    judgements: list[Judgement]
    next: list[str]


async def explain(mover: Mover, caller: Principal, kb_id: UUID, document_id: UUID) -> Explanation:
    """To anybody who may see the document: why it is where it is, and what can be done with it by whom."""
    async with mover.database.work(caller) as work:
        access = await require_member(work, kb_id)
        document = await DocumentRepository(work.session).get(kb_id, document_id)
        facts = await gather(work, access, document)
    facts = replace(facts, is_being_put_back=await _is_being_put_back(mover, caller, document_id))
    judgements = judge(facts)
    return Explanation(facts, why(facts), judgements, advise(facts, judgements))


async def _is_being_put_back(mover: Mover, caller: Principal, document_id: UUID) -> bool:
    if not mover.index.holds_copies:
        return False
    async with mover.database.service_work(Service(caller.organization_id)) as work:
        return await ExplainRepository(work.session).is_being_put_back(document_id)
