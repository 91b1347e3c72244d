"""The state machine over all pairs of move and status (docs/design.md#state-machine)."""

from itertools import product

import pytest

from muniment.documents.tables import Status
from muniment.lifecycle.rules import REMOVED, Move, MoveNotAllowed, Removed, resolve_target

ALLOWED: dict[tuple[Move, Status], Status | Removed] = {
    (Move.START, Status.PENDING): Status.PROCESSING,
    (Move.START, Status.PROCESSING): Status.PROCESSING,
    (Move.COMPLETE, Status.PROCESSING): Status.COMPLETED,
    (Move.FAIL, Status.PENDING): Status.FAILED,
    (Move.FAIL, Status.PROCESSING): Status.FAILED,
    (Move.CANCEL, Status.PENDING): Status.FAILED,
    (Move.CANCEL, Status.PROCESSING): Status.FAILED,
    (Move.RETRY, Status.FAILED): Status.PENDING,
    (Move.RETRY, Status.COMPLETED): Status.COMPLETED,
    (Move.ARCHIVE, Status.COMPLETED): Status.ARCHIVED,
    (Move.RESTORE, Status.ARCHIVED): Status.COMPLETED,
    (Move.REPLACE, Status.PENDING): Status.PENDING,
    (Move.REPLACE, Status.COMPLETED): Status.PENDING,
    (Move.REPLACE, Status.FAILED): Status.PENDING,
    (Move.REPLACE, Status.ARCHIVED): Status.PENDING,
    (Move.REVERT, Status.FAILED): Status.COMPLETED,
    (Move.AUTO_REVERT, Status.PENDING): Status.COMPLETED,
    (Move.AUTO_REVERT, Status.PROCESSING): Status.COMPLETED,
    (Move.RETRY_REPLACEMENT, Status.COMPLETED): Status.PENDING,
    (Move.RETRY_REPLACEMENT, Status.ARCHIVED): Status.PENDING,
    (Move.DISCARD_REPLACEMENT, Status.COMPLETED): Status.COMPLETED,
    (Move.DISCARD_REPLACEMENT, Status.ARCHIVED): Status.ARCHIVED,
    (Move.PURGE, Status.ARCHIVED): REMOVED,
    (Move.CLEAR, Status.FAILED): REMOVED,
}
REFUSALS = {
    (Move.CANCEL, Status.COMPLETED): "Only PROCESSING or PENDING documents can be cancelled",
    (Move.RETRY, Status.PENDING): "Only failed or completed documents can be retried",
    (Move.ARCHIVE, Status.PENDING): "Only completed documents can be archived",
    (Move.ARCHIVE, Status.FAILED): "Only completed documents can be archived",
    (Move.ARCHIVE, Status.ARCHIVED): "Document is already archived",
    (Move.RESTORE, Status.COMPLETED): "Only archived documents can be restored",
    (Move.REPLACE, Status.PROCESSING): "Cannot replace document while processing is in progress",
    (Move.PURGE, Status.COMPLETED): "Only archived documents can be purged",
    (Move.CLEAR, Status.COMPLETED): "Only failed documents can be cleared",
    (Move.CLEAR, Status.PENDING): "Only failed documents can be cleared",
    (Move.CLEAR, Status.PROCESSING): "Cannot clear document while processing is in progress",
}


@pytest.mark.parametrize(("move", "status"), list(product(Move, Status)))
def test_every_pair_leads_where_the_design_says_or_is_refused(move: Move, status: Status) -> None:
    if (move, status) in ALLOWED:
        assert resolve_target(move, status) is ALLOWED[move, status]
    else:
        with pytest.raises(MoveNotAllowed):
            resolve_target(move, status)


@pytest.mark.parametrize(("move", "status"), list(REFUSALS))
def test_a_refusal_is_the_specifications_sentence(move: Move, status: Status) -> None:
    with pytest.raises(MoveNotAllowed) as refused:
        resolve_target(move, status)
    assert refused.value.message == REFUSALS[move, status]
