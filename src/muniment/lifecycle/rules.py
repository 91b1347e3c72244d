"""The state machine as a table (DESIGN §4): which move leads where, and what is said when it is not allowed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from muniment.documents.tables import Status
from muniment.errors import Refused


class Move(StrEnum):
    START = "start"
    COMPLETE = "complete"
    FAIL = "fail"
    RETRY = "retry"


class IllegalMove(Refused):
    """The message comes from the rules: `Only failed or completed documents can be retried`."""


@dataclass(frozen=True)
class Rule:
    targets: Mapping[Status, Status]
    message: str
    messages: Mapping[Status, str] = field(default_factory=dict)
    """Where one status deserves a sentence of its own."""


# A worker that takes over finds the document already `processing`: START leads there from itself too.
RULES: dict[Move, Rule] = {
    Move.START: Rule(
        {Status.PENDING: Status.PROCESSING, Status.PROCESSING: Status.PROCESSING},
        "Only pending documents can be processed",
    ),
    Move.COMPLETE: Rule({Status.PROCESSING: Status.COMPLETED}, "Only documents in processing can be completed"),
    Move.FAIL: Rule(
        {Status.PENDING: Status.FAILED, Status.PROCESSING: Status.FAILED},
        "Only pending documents and those in processing can fail",
    ),
    Move.RETRY: Rule({Status.FAILED: Status.PENDING}, "Only failed or completed documents can be retried"),
}


def target(move: Move, status: Status) -> Status:
    """Where the move leads, or `IllegalMove` with the sentence that the specification gives."""
    rule = RULES[move]
    if status not in rule.targets:
        raise IllegalMove(rule.messages.get(status, rule.message))
    return rule.targets[status]
