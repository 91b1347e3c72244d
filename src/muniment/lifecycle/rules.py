"""Lifecycle rules as one table (docs/design.md#state-machine).

For each move: its targets, who may make it, what can prevent it, and the message of every refusal.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum

from muniment.documents.tables import Status
from muniment.errors import Refused
from muniment.knowledge_bases.access import MANAGERS, UPLOADERS, AccessLevel


class Move(StrEnum):
    """A move of the lifecycle. The values appear in the API and in metric labels."""

    START = "start"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"
    RETRY = "retry"
    ARCHIVE = "archive"
    RESTORE = "restore"
    REPLACE = "replace"
    REVERT = "revert"
    AUTO_REVERT = "auto_revert"
    RETRY_REPLACEMENT = "retry_replacement"
    DISCARD_REPLACEMENT = "discard_replacement"
    PURGE = "purge"
    CLEAR = "clear"


class Removed(StrEnum):
    """Target of a purge. It is not a status: the document's row no longer exists."""

    REMOVED = "gone"


REMOVED = Removed.REMOVED


class Obstacle(StrEnum):
    """What can prevent a move although the status allows it. `obstacles.py` has the check for each."""

    KB_BEING_DELETED = "kb_being_deleted"
    NOTHING_TO_REVERT = "nothing_to_revert"
    NO_FAILED_REPLACEMENT = "no_failed_replacement"
    NAME_TAKEN = "name_taken"
    HANDOVER_OPEN = "handover_open"
    INDEX_UPDATE_PENDING = "index_update_pending"


class Visibility(StrEnum):
    """Whether search shows the document after the move. An external index is updated before the row changes."""

    HIDDEN = "hidden"
    VISIBLE = "visible"
    AS_BEFORE_REPLACE = "as_before_replace"


class MoveNotAllowed(Refused):
    """The document's status does not allow this"""

    code = "IllegalMove"


@dataclass(frozen=True)
class Rule:
    """Everything that is fixed about one move."""

    targets: Mapping[Status, Status | Removed]
    allowed: Set[AccessLevel]
    """Who may make the move. Nobody, if a worker makes it."""
    refusal: str
    refusals: Mapping[Status, str] = field(default_factory=dict)
    """Messages for single statuses, instead of `refusal`."""
    obstacles: tuple[Obstacle, ...] = ()
    """Checked in this order. The first one found is reported."""
    visibility: Visibility | None = None
    """None if the move does not change what search shows, or deletes the document."""
    is_automatic: bool = False
    """Made by a worker, which passes the fence instead of a permission check."""


WORKER_ONLY: Set[AccessLevel] = frozenset()


REPLACEABLE = (Status.PENDING, Status.COMPLETED, Status.FAILED, Status.ARCHIVED)


REVERTED = (Status.COMPLETED, Status.ARCHIVED)
"""Statuses to which a revert leads."""


NO_FAILED_REPLACEMENT = "There is no failed replacement"


RULES: dict[Move, Rule] = {
    # A worker that takes over finds the document already `processing`, so START also leads from there.
    Move.START: Rule(
        targets={Status.PENDING: Status.PROCESSING, Status.PROCESSING: Status.PROCESSING},
        allowed=WORKER_ONLY,
        refusal="Only pending documents can be processed",
        is_automatic=True,
    ),
    Move.COMPLETE: Rule(
        targets={Status.PROCESSING: Status.COMPLETED},
        allowed=WORKER_ONLY,
        refusal="Only documents in processing can be completed",
        is_automatic=True,
    ),
    Move.FAIL: Rule(
        targets={Status.PENDING: Status.FAILED, Status.PROCESSING: Status.FAILED},
        allowed=WORKER_ONLY,
        refusal="Only pending documents and those in processing can fail",
        is_automatic=True,
    ),
    Move.CANCEL: Rule(
        targets={Status.PENDING: Status.FAILED, Status.PROCESSING: Status.FAILED},
        allowed=MANAGERS,
        refusal="Only PROCESSING or PENDING documents can be cancelled",
    ),
    # A completed document is reread: its status stays, and its previous result stays available.
    Move.RETRY: Rule(
        targets={Status.FAILED: Status.PENDING, Status.COMPLETED: Status.COMPLETED},
        allowed=UPLOADERS,
        refusal="Only failed or completed documents can be retried",
        obstacles=(Obstacle.KB_BEING_DELETED, Obstacle.NAME_TAKEN),
    ),
    Move.ARCHIVE: Rule(
        targets={Status.COMPLETED: Status.ARCHIVED},
        allowed=MANAGERS,
        refusal="Only completed documents can be archived",
        refusals={Status.ARCHIVED: "Document is already archived"},
        obstacles=(Obstacle.INDEX_UPDATE_PENDING,),
        visibility=Visibility.HIDDEN,
    ),
    Move.RESTORE: Rule(
        targets={Status.ARCHIVED: Status.COMPLETED},
        allowed=MANAGERS,
        refusal="Only archived documents can be restored",
        obstacles=(Obstacle.KB_BEING_DELETED, Obstacle.NAME_TAKEN, Obstacle.INDEX_UPDATE_PENDING),
        visibility=Visibility.VISIBLE,
    ),
    Move.REPLACE: Rule(
        targets=dict.fromkeys(REPLACEABLE, Status.PENDING),
        allowed=MANAGERS,
        refusal="Cannot replace document while processing is in progress",
        obstacles=(Obstacle.KB_BEING_DELETED, Obstacle.NAME_TAKEN),
    ),
    # Back to the status before the replace, which may also be `archived`.
    Move.REVERT: Rule(
        targets={Status.FAILED: Status.COMPLETED},
        allowed=MANAGERS,
        refusal="Only a failed replacement can be reverted",
        obstacles=(
            Obstacle.KB_BEING_DELETED,
            Obstacle.NOTHING_TO_REVERT,
            Obstacle.NAME_TAKEN,
            Obstacle.INDEX_UPDATE_PENDING,
        ),
        visibility=Visibility.AS_BEFORE_REPLACE,
    ),
    # A replacement that fails because of its file: the status before the replace, instead of `failed`. An external
    # index follows through an intent, so an intent that is open already is no obstacle.
    Move.AUTO_REVERT: Rule(
        targets=dict.fromkeys((Status.PENDING, Status.PROCESSING), Status.COMPLETED),
        allowed=WORKER_ONLY,
        refusal="Only pending documents and those in processing can fail",
        obstacles=(Obstacle.KB_BEING_DELETED, Obstacle.NOTHING_TO_REVERT, Obstacle.NAME_TAKEN),
        visibility=Visibility.AS_BEFORE_REPLACE,
        is_automatic=True,
    ),
    # The two moves of a document that was reverted automatically, with the content that could not be read.
    Move.RETRY_REPLACEMENT: Rule(
        targets=dict.fromkeys(REVERTED, Status.PENDING),
        allowed=MANAGERS,
        refusal=NO_FAILED_REPLACEMENT,
        obstacles=(Obstacle.KB_BEING_DELETED, Obstacle.NO_FAILED_REPLACEMENT, Obstacle.NAME_TAKEN),
    ),
    Move.DISCARD_REPLACEMENT: Rule(
        targets={status: status for status in REVERTED},
        allowed=MANAGERS,
        refusal=NO_FAILED_REPLACEMENT,
        obstacles=(Obstacle.NO_FAILED_REPLACEMENT,),
    ),
    Move.PURGE: Rule(
        targets={Status.ARCHIVED: REMOVED},
        allowed=MANAGERS,
        refusal="Only archived documents can be purged",
        obstacles=(Obstacle.HANDOVER_OPEN,),
    ),
    Move.CLEAR: Rule(
        targets={Status.FAILED: REMOVED},
        allowed=MANAGERS,
        refusal="Only failed documents can be cleared",
        refusals={Status.PROCESSING: "Cannot clear document while processing is in progress"},
    ),
}


def resolve_target(move: Move, status: Status) -> Status | Removed:
    """Return the status the move leads to, or raise `MoveNotAllowed` with its message in
    docs/contracts.md#lifecycle-messages.
    """
    rule = RULES[move]
    if status not in rule.targets:
        raise MoveNotAllowed(rule.refusals.get(status, rule.refusal))
    return rule.targets[status]
