"""SIGKILL real API processes on a real socket during a move: everything recovers."""

import random
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress
from tests.faults.moves.faults import Faults
from tests.faults.moves.installation import InProcessInstallation, installed
from tests.faults.moves.killing import ApiForkServer, open_api_fork_server
from tests.faults.moves.moves import MOVES, prepare
from tests.faults.moves.promises import Promises
from tests.faults.moves.test_matrix import make
from tests.support.seed import Seed

pytestmark = pytest.mark.slow

SEED = 20261116
each_move = pytest.mark.parametrize("move", MOVES)


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ApiForkServer]:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_api_fork_server(Path(folder)) as fork_server,
    ):  # the path of a socket is limited to 107 bytes
        yield fork_server


@pytest.fixture
async def installation(settings: Settings, seed: Seed) -> AsyncIterator[InProcessInstallation]:
    async with installed(settings, seed, "pgvector") as installation:
        yield installation


async def ready(installation: InProcessInstallation, move: str) -> tuple[Promises, int]:
    """Prepare the move and return the number of its effects."""
    promises, undisturbed = Promises(installation, move, await prepare(installation, move)), Faults()
    assert await make(installation, promises, undisturbed) == promises.last
    return promises, len(undisturbed.reached)


async def check_killed(fork_server: ApiForkServer, promises: Promises, address: DatabaseAddress, number: int) -> bool:
    installation = promises.installation
    installation.keeping.restore()
    await installation.restart()
    was_killed = await fork_server.kill(installation, address, promises.prepared, number)
    await promises.check_recovery(promises.steps())
    return was_killed


@each_move
async def test_what_a_killed_api_left_behind_recovers(
    fork_server: ApiForkServer, installation: InProcessInstallation, address: DatabaseAddress, move: str
) -> None:
    promises, effects = await ready(installation, move)
    number = random.Random(f"{SEED} {move}").randrange(effects)
    assert await check_killed(fork_server, promises, address, number)


@pytest.mark.every_fault
@pytest.mark.timeout(1800)
@each_move
async def test_an_api_may_be_killed_at_every_single_effect(
    fork_server: ApiForkServer, installation: InProcessInstallation, address: DatabaseAddress, move: str
) -> None:
    promises, effects = await ready(installation, move)
    for number in range(effects):
        await check_killed(fork_server, promises, address, number)
