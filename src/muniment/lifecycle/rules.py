"""Lifecycle rules as tables (DESIGN §4): where each move leads, who may make it, and the message of every refusal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from muniment.documents.tables import Status
from muniment.errors import Refused
from muniment.knowledge_bases.access import Standing


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


class Gone(StrEnum):
    """Where a destruction leads: there is no such status, because there is no such row any more."""

    GONE = "gone"


GONE = Gone.GONE


class IllegalMove(Refused):
    """The message comes from the rules: `Only failed or completed documents can be retried`."""


@dataclass(frozen=True)
class Rule:
    targets: Mapping[Status, Status | Gone]
    message: str
    messages: Mapping[Status, str] = field(default_factory=dict)
    """Where one status deserves a sentence of its own."""


REPLACED = (Status.PENDING, Status.COMPLETED, Status.FAILED, Status.ARCHIVED)


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
        dict.fromkeys(REPLACED, Status.PENDING), "Cannot replace document while processing is in progress"
    ),
    # To where the document stood before the replace, which is `archived` where it stood there.
    Move.REVERT: Rule({Status.FAILED: Status.COMPLETED}, "Only a failed replacement can be reverted"),
    Move.PURGE: Rule({Status.ARCHIVED: GONE}, "Only archived documents can be purged"),
    Move.CLEAR: Rule(
        {Status.FAILED: GONE},
        "Only failed documents can be cleared",
        {Status.PROCESSING: "Cannot clear document while processing is in progress"},
    ),
}


def target(move: Move, status: Status) -> Status | Gone:
    """Where the move leads, or `IllegalMove` with the sentence that the specification gives."""
    rule = RULES[move]
    if status not in rule.targets:
        raise IllegalMove(rule.messages.get(status, rule.message))
    return rule.targets[status]


KEEPS = frozenset({Move.RESTORE, Move.REPLACE, Move.REVERT})


MANAGERS = (Standing.OWNER, Standing.ADMIN)


BY_MUNIMENT = (Move.START, Move.COMPLETE, Move.FAIL)


WHO_MAY: Mapping[Move, Sequence[Standing]] = {
    **dict.fromkeys(Move, MANAGERS),
    **dict.fromkeys(BY_MUNIMENT, ()),
    Move.RETRY: (*MANAGERS, Standing.EDITOR),
}
