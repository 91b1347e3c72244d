"""SIGKILL real worker processes with real files: a second process finishes the run."""

import random
from collections.abc import Iterator
from uuid import UUID

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from muniment.processing.pipeline.graph import NODES
from muniment.storage.tasks.port import FAST, READING
from tests.faults.effects import ERROR_HANDLING, Effect
from tests.faults.harness import FaultHarness
from tests.faults.killing import WorkerForkServer, open_worker_fork_server
from tests.faults.results import Results
from tests.faults.scenarios import WITHOUT_EFFECTS, reread, unknown
from tests.processing.readers.pdf_files import page_of, pdf, together

pytestmark = pytest.mark.slow

SEED = 20261116


def plan(canvas: Canvas) -> None:
    canvas.drawImage(ImageReader(Image.linear_gradient("L")), 72, 200, 128, 128)


A_FILE = pdf(together(page_of("What was agreed upon", "in the year of the flood"), plan), page_of("A second page"))
NO_FILE = b"%PDF-1.7 and then nothing"
PREPARED = {"AlreadyProcessedCheck": (A_FILE, reread), ERROR_HANDLING: (NO_FILE, unknown)}

each_place = pytest.mark.parametrize(
    "place", [FAST, READING, *(name for name in NODES if name not in WITHOUT_EFFECTS), ERROR_HANDLING]
)
Undisturbed = dict[str, tuple[list[Effect], Results]]


@pytest.fixture(scope="module")
def fork_server() -> Iterator[WorkerForkServer]:
    with open_worker_fork_server() as fork_server:
        yield fork_server


@pytest.fixture(scope="module")
def known_undisturbed() -> Undisturbed:
    """Outcomes of uninterrupted runs by kind, which are the same in every database."""
    return {}


async def begin(fault_env: FaultHarness, place: str) -> UUID:
    """Prepare a document whose run reaches this node or queue."""
    await fault_env.clear()
    fault_env.content, prepare = PREPARED.get(place, (A_FILE, unknown))
    return await prepare(fault_env)


async def undisturbed(
    fork_server: WorkerForkServer, fault_env: FaultHarness, place: str, known: Undisturbed
) -> tuple[list[int], Results]:
    """Return the numbers of the effects at this node or queue, and the final state."""
    kind = place if place in PREPARED else "any"
    if kind not in known:
        last = await fork_server.work_off(fault_env, await begin(fault_env, place), FAST)
        known[kind] = last.reached, await fault_env.outcome()
    reached, results = known[kind]
    return [number for number, effect in enumerate(reached) if effect.place == place], results


async def killed_and_finished(
    fork_server: WorkerForkServer, fault_env: FaultHarness, place: str, number: int
) -> Results:
    document_id = await begin(fault_env, place)
    dead = await fork_server.work_off(fault_env, document_id, FAST, killed_at=number)
    assert dead.reached[-1].place == place
    await fork_server.work_off(fault_env, document_id, dead.queue)
    return await fault_env.outcome()


@each_place
async def test_a_second_process_finishes_what_a_killed_one_began(
    fork_server: WorkerForkServer, fault_env: FaultHarness, place: str, known_undisturbed: Undisturbed
) -> None:
    numbers, expected = await undisturbed(fork_server, fault_env, place, known_undisturbed)
    number = random.Random(f"{SEED} {place}").choice(numbers)
    assert await killed_and_finished(fork_server, fault_env, place, number) == expected


@pytest.mark.every_fault
@pytest.mark.timeout(1800)
@each_place
async def test_a_process_may_be_killed_at_every_single_effect(
    fork_server: WorkerForkServer, fault_env: FaultHarness, place: str, known_undisturbed: Undisturbed
) -> None:
    numbers, expected = await undisturbed(fork_server, fault_env, place, known_undisturbed)
    for number in numbers:
        assert await killed_and_finished(fork_server, fault_env, place, number) == expected, number
