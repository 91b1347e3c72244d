"""The state machine over all pairs of move and status (DESIGN §4)."""

from itertools import product

import pytest

from muniment.documents.tables import Status
from muniment.lifecycle.rules import IllegalMove, Move, target

ALLOWED = {
    (Move.START, Status.PENDING): Status.PROCESSING,
    (Move.START, Status.PROCESSING): Status.PROCESSING,
    (Move.COMPLETE, Status.PROCESSING): Status.COMPLETED,
    (Move.FAIL, Status.PENDING): Status.FAILED,
    (Move.FAIL, Status.PROCESSING): Status.FAILED,
    (Move.RETRY, Status.FAILED): Status.PENDING,
}


@pytest.mark.parametrize(("move", "status"), list(product(Move, Status)))
def test_every_pair_leads_where_the_design_says_or_is_refused(move: Move, status: Status) -> None:
    if (move, status) in ALLOWED:
        assert target(move, status) is ALLOWED[move, status]
    else:
        with pytest.raises(IllegalMove):
            target(move, status)


def test_the_refusal_of_a_retry_is_the_specifications_sentence() -> None:
    with pytest.raises(IllegalMove, match=r"^Only failed or completed documents can be retried$"):
        target(Move.RETRY, Status.PENDING)
