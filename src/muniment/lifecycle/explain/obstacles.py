"""What is in the way of which move, and who may make it. Pure: asks nothing, only judges."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.documents.tables import Status
from muniment.knowledge_bases.access import Standing
from muniment.lifecycle.explain.facts import Facts
from muniment.lifecycle.removal.hand_over import HandOverPending
from muniment.lifecycle.replacing.shelf import NothingToRevert
from muniment.lifecycle.rules import RULES, IllegalMove, Move, target

MANAGERS = (Standing.OWNER, Standing.ADMIN)
BY_MUNIMENT = (Move.START, Move.COMPLETE, Move.FAIL)
WHO_MAY: Mapping[Move, Sequence[Standing]] = {
    **dict.fromkeys(Move, MANAGERS),
    **dict.fromkeys(BY_MUNIMENT, ()),
    Move.RETRY: (*MANAGERS, Standing.EDITOR),
}
ITSELF = "Muniment does this by itself, when it is time"
INDEX_UPDATE_PENDING = "The search index is being put back; try again shortly"
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
