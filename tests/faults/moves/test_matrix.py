"""Every effect of every move may fail, hang, get no answer, or be the last one of its process: the promises hold."""

from collections.abc import AsyncIterator, Sequence
from enum import StrEnum

import pytest

from muniment.settings import Settings
from tests.faults.moves.faults import FAULTS, Fault, Faults, Part
from tests.faults.moves.inspection import state_of
from tests.faults.moves.installation import InProcessInstallation, installed, survives
from tests.faults.moves.moves import MOVES, prepare
from tests.faults.moves.promises import Promises
from tests.support.seed import Seed

UNTOLD = {"upload", "cancel", "retry", "replace", "retry of a replacement", "deletion of a failed replacement"}
"""Moves that do not change the index."""
MANY_DOCUMENTS = {"bulk purge", "removal of a knowledge base"}
"""Moves of several documents: the order of their effects varies."""

WAYS = [
    (engine, move) for engine in ("pgvector", "qdrant") for move in MOVES if engine == "pgvector" or move not in UNTOLD
]
LONG_WAYS = {("pgvector", "bulk purge"), ("qdrant", "bulk purge"), ("qdrant", "removal of a knowledge base")}
"""Tried by `make test-faults` only: each of their documents takes the way of a single purge."""


@pytest.fixture
async def installation(engine: str, settings: Settings, seed: Seed) -> AsyncIterator[InProcessInstallation]:
    async with installed(settings, seed, engine) as installation:
        yield installation


async def make(installation: InProcessInstallation, promises: Promises, faults: Faults) -> list[int] | None:
    """Make the prepared move with this fault. Return the steps it reached, or None if it changed nothing."""
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


class Extent(StrEnum):
    WHOLE = "every fault of every effect"
    WHAT_LASTS = "no statement inside a transaction: what becomes of it is decided by the commit"
    IN_TURN = "the same, but only one fault of each effect, in turn: for many documents, each moved as one alone is"
    INDEX = "only what the index is asked to do: the rest is the same with either engine"


def extent_of(engine: str, move: str) -> Extent:
    """Return how many cases every run tries; `make test-faults` tries all of them."""
    if engine == "qdrant":
        return Extent.INDEX
    return Extent.IN_TURN if move in MANY_DOCUMENTS else Extent.WHAT_LASTS


def faults_of(number: int, part: Part, extent: Extent) -> Sequence[Fault]:
    faults = FAULTS[part]
    match extent:
        case Extent.WHOLE:
            return faults
        case Extent.WHAT_LASTS:
            return faults if part is not Part.STATEMENT else []
        case Extent.IN_TURN:
            return [faults[number % len(faults)]] if part is not Part.STATEMENT else []
        case Extent.INDEX:
            return faults if part is Part.INDEX else []


def cases(reached: list[tuple[Part, str]], extent: Extent) -> list[tuple[int, Fault]]:
    """Return the cases grouped by fault: opening new connections is slow, and hanging does not break them."""
    every = [(number, fault) for number, (part, _) in enumerate(reached) for fault in faults_of(number, part, extent)]
    return sorted(every, key=lambda case: list(Fault).index(case[1]))


def parts_of(engine: str, move: str) -> set[Part]:
    """Return the effects that a move must have, so that a blind harness fails."""
    parts = {Part.CALL, Part.STATEMENT, Part.COMMIT}
    if move not in ("archive", "restore", "cancel", "retry", "retry of a replacement"):
        parts.add(Part.OBJECTS)
    return {*parts, Part.INDEX} if engine == "qdrant" else parts


async def check(installation: InProcessInstallation, engine: str, move: str, extent: Extent) -> None:
    promises = Promises(installation, move, await prepare(installation, move))
    assert promises.steps() == promises.first
    undisturbed = Faults()
    assert await make(installation, promises, undisturbed) == promises.last
    assert {part for part, _ in undisturbed.reached} == parts_of(engine, move)
    known = set[str]()
    for number, fault in cases(undisturbed.reached, extent):
        faults = Faults(number, fault)
        try:
            await check_case(installation, promises, faults, known)
        except AssertionError as error:
            raise AssertionError(f"{undisturbed.reached[number]}, number {number}, {fault}: {error}") from error
        assert faults.struck or move in MANY_DOCUMENTS


async def check_case(installation: InProcessInstallation, promises: Promises, faults: Faults, known: set[str]) -> None:
    """Check recovery, unless an earlier case left the same state."""
    steps = await make(installation, promises, faults)
    if steps is None:
        return
    state = state_of(installation)
    if state not in known:
        known.add(state)
        await promises.check_recovery(steps)


@pytest.mark.parametrize(("engine", "move"), [way for way in WAYS if way not in LONG_WAYS])
@pytest.mark.timeout(600)
async def test_wherever_a_move_is_cut_off_the_promises_hold(
    installation: InProcessInstallation, engine: str, move: str
) -> None:
    await check(installation, engine, move, extent_of(engine, move))


@pytest.mark.every_fault
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("engine", "move"), WAYS)
async def test_whatever_goes_wrong_wherever_in_a_move_the_promises_hold(
    installation: InProcessInstallation, engine: str, move: str
) -> None:
    await check(installation, engine, move, Extent.WHOLE)
