"""A process may die before, inside and after every node; the next run ends in the same state (docs/design.md#i5)."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

import pytest

from muniment.processing.pipeline.graph import NODES
from muniment.storage.tasks.port import FAST, READING
from tests.faults.effects import (
    COMMIT,
    COMMITTED,
    ERROR_HANDLING,
    LAST_PAGE,
    PRINCIPAL,
    STORED,
    Effect,
    RunEffectRecorder,
    die_at,
)
from tests.faults.harness import FaultHarness
from tests.faults.results import Results, shown
from tests.faults.scenarios import SCENARIOS, WITHOUT_EFFECTS, Scenario

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


async def begin(fault_env: FaultHarness, scenario: Scenario) -> UUID:
    await fault_env.clear()
    return await scenario.prepare(fault_env)


@dataclass(frozen=True)
class Undisturbed:
    reached: list[Effect]
    seen: Results
    outcome: Results
    with_another: Results
    """With a second document that has the same bytes."""


async def undisturbed(fault_env: FaultHarness, scenario: Scenario) -> Undisturbed:
    document_id = await begin(fault_env, scenario)
    effects = RunEffectRecorder()
    effects.queue = scenario.queue
    await fault_env.work_off(document_id, effects)
    seen, outcome = shown(fault_env.seed), await fault_env.outcome()
    await another_document(fault_env)
    return Undisturbed(effects.recorded, seen, outcome, await fault_env.outcome())


async def another_document(fault_env: FaultHarness) -> None:
    queue = await fault_env.finish(await fault_env.worker_env.document(fault_env.content, name="another.pdf"))
    assert queue == FAST or fault_env.worker_env.reader.error


@each_scenario
async def test_a_run_passes_these_queues_and_nodes(fault_env: FaultHarness, scenario: Scenario) -> None:
    reached = (await undisturbed(fault_env, scenario)).reached
    assert tuple(place for place, _ in groupby(effect.place for effect in reached)) == scenario.passes


def test_every_node_is_passed_by_some_run() -> None:
    passed = {place for scenario in SCENARIOS.values() for place in scenario.passes}
    assert passed - {FAST, READING} == {*NODES, ERROR_HANDLING} - WITHOUT_EFFECTS


def leaves_something_of_its_own(reached: list[Effect], number: int) -> bool:
    """Return whether a crash here leaves a different state than a crash at the next effect.

    An interrupted transaction is rolled back as a whole, so a crash before its commit covers a crash before each of
    its statements.
    """
    is_followed = number + 1 < len(reached) and (
        reached[number + 1].what == COMMIT or is_statement(reached[number + 1])
    )
    return not (is_followed and is_statement(reached[number]))


def is_statement(effect: Effect) -> bool:
    """Return whether the effect is a statement inside a transaction, after the first one."""
    return " " in effect.what and effect.what != LAST_PAGE and not effect.what.startswith((PRINCIPAL, "page "))


@each_scenario
async def test_wherever_the_process_dies_the_next_one_ends_as_if_it_had_not(
    fault_env: FaultHarness, scenario: Scenario
) -> None:
    expected = await undisturbed(fault_env, scenario)
    deaths = [
        number for number in range(len(expected.reached)) if leaves_something_of_its_own(expected.reached, number)
    ]
    await check_deaths(fault_env, scenario, expected, deaths)


@pytest.mark.every_fault
@pytest.mark.timeout(1800)
@each_scenario
async def test_the_process_may_die_at_every_single_effect(fault_env: FaultHarness, scenario: Scenario) -> None:
    expected = await undisturbed(fault_env, scenario)
    await check_deaths(fault_env, scenario, expected, range(len(expected.reached)))


async def check_deaths(
    fault_env: FaultHarness, scenario: Scenario, expected: Undisturbed, numbers: Iterable[int]
) -> None:
    for number in numbers:
        effect = expected.reached[number]
        document_id = await begin(fault_env, scenario)
        before = shown(fault_env.seed)
        dead = RunEffectRecorder(die_at(number))
        dead.queue = scenario.queue
        assert await fault_env.dies(document_id, dead), effect
        check_nothing_halfway(fault_env, before, expected.seen, effect)

        again = RunEffectRecorder()
        again.queue = dead.queue
        await fault_env.work_off(document_id, again)
        assert await fault_env.outcome() == expected.outcome, effect
        check_computed_once(fault_env, effect)
        if effect.what in (COMMITTED, STORED):  # nothing else survives the process
            await another_document(fault_env)
            assert await fault_env.outcome() == expected.with_another, effect


def check_nothing_halfway(fault_env: FaultHarness, before: Results, after: Results, effect: Effect) -> None:
    """Check that users see the document as before or as after; only an unfinished one shows less."""
    [status] = fault_env.seed.rows("SELECT status FROM documents WHERE name = 'subject.pdf'")
    if status == ("completed",):
        assert shown(fault_env.seed) in (before, after), effect


def check_computed_once(fault_env: FaultHarness, effect: Effect) -> None:
    if effect.place != "ExtractText" and not fault_env.worker_env.reader.error:
        assert fault_env.worker_env.reader.opened <= 1, effect
