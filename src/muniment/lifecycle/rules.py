"""Lifecycle rules as tables (docs/design.md#state-machine): where each move leads, who may make it, and the message of every refusal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from muniment.documents.tables import Status
from muniment.errors import Refused
from muniment.knowledge_bases.access import AccessLevel


class Move(StrEnum):
    START = "start"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"
    RETRY = "retry"
    ARCHIVE = "archive"
    RESTORE = "restore"
    REPLACE = "replace"
    REVERT = "revert"
    PURGE = "purge"
    CLEAR = "clear"


class Removed(StrEnum):
    """Where a destruction leads: there is no such status, because there is no such row any more."""

    REMOVED = "gone"


REMOVED = Removed.REMOVED


class MoveNotAllowed(Refused):
    """The message comes from the rules: `Only failed or completed documents can be retried`."""

    code = "IllegalMove"


@dataclass(frozen=True)
class Rule:
    targets: Mapping[Status, Status | Removed]
    refusal: str
    refusals: Mapping[Status, str] = field(default_factory=dict)
    """Where one status deserves a sentence of its own."""


REPLACEABLE = (Status.PENDING, Status.COMPLETED, Status.FAILED, Status.ARCHIVED)


RULES: dict[Move, Rule] = {
    # A worker that takes over finds the document already `processing`: START leads there from itself too.
    Move.START: Rule(
        {Status.PENDING: Status.PROCESSING, Status.PROCESSING: Status.PROCESSING},
        "Only pending documents can be processed",
    ),
    Move.COMPLETE: Rule({Status.PROCESSING: Status.COMPLETED}, "Only documents in processing can be completed"),
    Move.FAIL: Rule(
        {Status.PENDING: Status.FAILED, Status.PROCESSING: Status.FAILED},
        "Only pending documents and those in processing can fail",
    ),
    Move.CANCEL: Rule(
        {Status.PENDING: Status.FAILED, Status.PROCESSING: Status.FAILED},
        "Only PROCESSING or PENDING documents can be cancelled",
    ),
    Move.RETRY: Rule({Status.FAILED: Status.PENDING}, "Only failed or completed documents can be retried"),
    Move.ARCHIVE: Rule(
        {Status.COMPLETED: Status.ARCHIVED},
        "Only completed documents can be archived",
        {Status.ARCHIVED: "Document is already archived"},
    ),
    Move.RESTORE: Rule({Status.ARCHIVED: Status.COMPLETED}, "Only archived documents can be restored"),
    Move.REPLACE: Rule(
        dict.fromkeys(REPLACEABLE, Status.PENDING), "Cannot replace document while processing is in progress"
    ),
    # To where the document stood before the replace, which is `archived` where it stood there.
    Move.REVERT: Rule({Status.FAILED: Status.COMPLETED}, "Only a failed replacement can be reverted"),
    Move.PURGE: Rule({Status.ARCHIVED: REMOVED}, "Only archived documents can be purged"),
    Move.CLEAR: Rule(
        {Status.FAILED: REMOVED},
        "Only failed documents can be cleared",
        {Status.PROCESSING: "Cannot clear document while processing is in progress"},
    ),
}


def resolve_target(move: Move, status: Status) -> Status | Removed:
    """Where the move leads, or `MoveNotAllowed` with the message that docs/contracts.md#lifecycle-messages gives."""
    rule = RULES[move]
    if status not in rule.targets:
        raise MoveNotAllowed(rule.refusals.get(status, rule.refusal))
    return rule.targets[status]


BLOCKED_BY_KB_DELETION = frozenset({Move.RESTORE, Move.REPLACE, Move.REVERT})


_MANAGERS = (AccessLevel.OWNER, AccessLevel.ADMIN)


AUTOMATIC_MOVES = (Move.START, Move.COMPLETE, Move.FAIL)


ALLOWED_LEVELS: Mapping[Move, Sequence[AccessLevel]] = {
    **dict.fromkeys(Move, _MANAGERS),
    **dict.fromkeys(AUTOMATIC_MOVES, ()),
    Move.RETRY: (*_MANAGERS, AccessLevel.EDITOR),
}
