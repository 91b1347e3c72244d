"""An overtaken worker writes nothing, wherever it was paused (docs/design.md#fence, #i4)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from muniment.documents.quotas import Quotas
from muniment.documents.tables import Status
from muniment.lifecycle.engine import MoveEngine, Target
from muniment.lifecycle.moves.archive import Archive
from muniment.lifecycle.moves.cancel import Cancel
from muniment.lifecycle.moves.retry import Retry
from muniment.processing.runs.repository import RunRepository
from muniment.storage.db.principal import Service
from muniment.storage.tasks.port import FIRST_RUN
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from muniment.storage.vectors.external_index_updates import NoExternalIndex
from tests.faults.effects import COMMIT, PRINCIPAL, Effect, RunEffectRecorder
from tests.faults.harness import FaultHarness
from tests.faults.pausing import Pause, held_up
from tests.faults.results import referenced, stored
from tests.faults.scenarios import SCENARIOS, Scenario
from tests.support.jobs import wait_until

Tables = dict[str, list[tuple[Any, ...]]]
Overtake = Callable[[FaultHarness, UUID], Awaitable[None]]

FENCE = "WITH locked AS ( SELECT id FROM documents"
RELEASE = "UPDATE deletions"
"""A worker deletes what it had only reserved without its fence. Whoever moves the document waits for this row."""
TABLES = (
    "documents", "document_revisions", "document_processing_runs", "document_processing_steps", "document_pages",
    "document_paragraphs", "document_diagrams", "artifacts_full_text", "artifact_pages", "artifact_paragraphs",
    "artifact_diagrams",
)  # fmt: skip

computing = pytest.mark.parametrize(
    "scenario",
    [scenario for name, scenario in SCENARIOS.items() if name != "known content"],
    ids=[name for name in SCENARIOS if name != "known content"],
)


def tables(rows: Callable[[str], list[tuple[Any, ...]]]) -> Tables:
    """Return every column of every row, including times and ids."""
    return {table: sorted(rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


async def end(fault_env: FaultHarness, document_id: UUID) -> None:
    """End the run as its owner can: cancel it, archive a document during a reread, or retry a failed one."""
    worker_env, target = (
        fault_env.worker_env,
        Target(fault_env.worker_env.owner.principal, fault_env.worker_env.kb_id, document_id),
    )
    index = NoExternalIndex(worker_env.database)
    unused: Any = None  # needed only by purge, replace and revert
    engine = MoveEngine(worker_env.database, index, ProcrastinateQueue(), unused, unused, unused, Quotas())
    match worker_env.status(document_id):
        case Status.COMPLETED:
            await engine.run(Archive(), target)
        case Status.FAILED:
            await engine.run(Retry(FIRST_RUN), target)
        case _:
            await engine.run(Cancel(), target)


async def take_over(fault_env: FaultHarness, document_id: UUID) -> None:
    """Take the run over, like a worker that considers this one dead."""
    job = fault_env.worker_env.job(document_id)
    async with fault_env.worker_env.database.service_work(Service(job.organization_id)) as work:
        await RunRepository(work.session).claim(job.run_id)


WAYS_TO_OVERTAKE: tuple[Overtake, ...] = (end, take_over)


async def count_effects(fault_env: FaultHarness, scenario: Scenario) -> list[Effect]:
    await fault_env.clear()
    effects = RunEffectRecorder()
    effects.queue = scenario.queue
    await fault_env.work_off(await scenario.prepare(fault_env), effects)
    return effects.recorded


def unfenced(reached: list[Effect]) -> Iterator[int]:
    """Yield the moments at which the worker has no transaction, or one without its fence."""
    is_fenced = False
    for number, effect in enumerate(reached):
        if effect.what.startswith(PRINCIPAL):
            is_fenced = False
        if not is_fenced and effect.place[0].isupper():  # inside a node, so the run is claimed
            yield number
        is_fenced = (is_fenced or effect.what.startswith((FENCE, RELEASE))) and effect.what != COMMIT


def fenced(reached: list[Effect]) -> Iterator[int]:
    """Yield the moments after each fence."""
    return (number + 1 for number, effect in enumerate(reached) if effect.what.startswith(FENCE))


@computing
async def test_a_worker_that_was_overtaken_writes_nothing(fault_env: FaultHarness, scenario: Scenario) -> None:
    """Alternate between ending the run and taking it over."""
    reached = await count_effects(fault_env, scenario)
    for turn, number in enumerate(unfenced(reached)):
        await check_overtaken(fault_env, scenario, reached, number, WAYS_TO_OVERTAKE[turn % len(WAYS_TO_OVERTAKE)])


@pytest.mark.every_fault
@computing
@pytest.mark.parametrize("overtake", WAYS_TO_OVERTAKE)
async def test_a_worker_may_be_overtaken_in_every_way_at_every_moment(
    fault_env: FaultHarness, scenario: Scenario, overtake: Overtake
) -> None:
    reached = await count_effects(fault_env, scenario)
    for number in unfenced(reached):
        await check_overtaken(fault_env, scenario, reached, number, overtake)


async def check_overtaken(
    fault_env: FaultHarness, scenario: Scenario, reached: list[Effect], number: int, overtake: Overtake
) -> None:
    await fault_env.clear()
    document_id, pause = await scenario.prepare(fault_env), Pause(number)
    late = RunEffectRecorder(pause)
    late.queue = scenario.queue
    async with held_up(fault_env, document_id, late, pause):
        await overtake(fault_env, document_id)
        then = tables(fault_env.seed.rows)
    assert tables(fault_env.seed.rows) == then, reached[number]
    fences = [effect for effect in late.recorded[number:] if effect.what.startswith(FENCE)]
    assert len(fences) <= 1, reached[number]  # the first fence stops the worker
    await fault_env.carry_out_ledger()
    assert await stored(fault_env.worker_env.objects) == referenced(fault_env.seed), reached[number]


@computing
async def test_whoever_moves_the_document_waits_for_the_fence_and_then_nothing_is_written_any_more(
    fault_env: FaultHarness, scenario: Scenario
) -> None:
    reached = await count_effects(fault_env, scenario)
    for number in fenced(reached):
        await fault_env.clear()
        document_id, pause = await scenario.prepare(fault_env), Pause(number)
        late = RunEffectRecorder(pause)
        late.queue = scenario.queue
        async with held_up(fault_env, document_id, late, pause):
            mover = asyncio.create_task(asyncio.to_thread(moved, fault_env, document_id))
            await wait_until(lambda: is_waiting(fault_env))
            pause.over.set()
            then = await mover
        assert tables(fault_env.seed.rows) == then, reached[number]
        await fault_env.carry_out_ledger()
        assert await stored(fault_env.worker_env.objects) == referenced(fault_env.seed), reached[number]


def moved(fault_env: FaultHarness, document_id: UUID) -> Tables:
    """Return the tables at the moment when the document is moved."""
    with psycopg.connect(fault_env.address.conninfo, application_name="mover") as connection:
        connection.execute("UPDATE documents SET epoch = epoch + 1 WHERE id = %s", [document_id])
        return tables(lambda question: connection.execute(question).fetchall())


def is_waiting(fault_env: FaultHarness) -> bool:
    waiting = """SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'mover'
                                   AND wait_event_type = 'Lock' AND datname = current_database())"""
    return bool(fault_env.seed.one(waiting))
