"""Every effect of every move may fail, hang, get no answer, or be the last of its process; the promises hold."""

from collections.abc import AsyncIterator

import pytest

from muniment.settings import Settings
from tests.faults.moves.faults import FAULTS, Fault, Faults, Part
from tests.faults.moves.installation import Installation, installed, survives
from tests.faults.moves.looks import state_of
from tests.faults.moves.moves import MOVES, prepare
from tests.faults.moves.promises import Promises
from tests.seed import Seed

each_move = pytest.mark.parametrize("move", MOVES)


@pytest.fixture(params=["pgvector", "qdrant"])
async def installation(request: pytest.FixtureRequest, settings: Settings, seed: Seed) -> AsyncIterator[Installation]:
    async with installed(settings, seed, request.param) as installation:
        yield installation


async def make(installation: Installation, promises: Promises, faults: Faults) -> list[int] | None:
    """The move, from where it was prepared, with this disturbance; the steps that it came to, `None` if to nothing."""
    installation.keeping.restore()
    installation.seed.execute("DELETE FROM request_times")
    async with installation.client() as client, installation.disturbed(faults):
        answer = await survives(promises.prepared.request(client))
    if answer is None:
        await installation.restart()
    if installation.keeping.is_unchanged():
        promises.check_answer(answer, promises.first, faults)
        return None
    steps = promises.steps()
    promises.check_answer(answer, steps, faults)
    return steps


def cases(reached: list[tuple[Part, str]]) -> list[tuple[int, Fault]]:
    return [(number, fault) for number, (part, _) in enumerate(reached) for fault in FAULTS[part]]


@each_move
async def test_wherever_a_move_is_cut_off_the_promises_hold(installation: Installation, move: str) -> None:
    promises = Promises(installation, move, await prepare(installation, move))
    assert promises.steps() == promises.first
    undisturbed = Faults()
    assert await make(installation, promises, undisturbed) == promises.last
    known = set()
    for number, fault in cases(undisturbed.reached):
        faults = Faults(number, fault)
        try:
            steps = await make(installation, promises, faults)
            state = state_of(installation)
            if steps is not None and state not in known:
                known.add(state)
                await promises.check_recovery(steps)
        except AssertionError as error:
            raise AssertionError(f"number {number}, {faults.struck} {fault}: {error}") from error
