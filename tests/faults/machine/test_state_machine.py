"""People, workers and crashes in random order against a small model."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as bounds
from hypothesis.stateful import run_state_machine_as_test

from muniment.settings import Settings
from tests.faults.machine.driver import ModelDriver, open_driver
from tests.faults.machine.machine import Machine
from tests.support.seed import Seed

ALL_HEALTHY = list(HealthCheck)
"""An example takes as long as a few hundred requests."""


@pytest.fixture
def driver(settings: Settings, seed: Seed, request: pytest.FixtureRequest) -> Iterator[ModelDriver]:
    with open_driver(settings, seed, request.param) as driver:
        yield driver


each_engine = pytest.mark.parametrize("driver", ["pgvector", "qdrant"], indirect=True)
# An external index can lag behind the rows, so Qdrant is the harder case.
one_engine = pytest.mark.parametrize("driver", ["qdrant"], indirect=True)


def drive(driver: ModelDriver, *, examples: int, steps: int, derandomize: bool) -> None:
    class MachineHere(Machine):
        def __init__(self) -> None:
            super().__init__(driver)

    wanted = bounds(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=derandomize,
        database=None,
        deadline=None,
        suppress_health_check=ALL_HEALTHY,
        phases=[Phase.generate, *([] if derandomize else [Phase.shrink])],
        report_multiple_bugs=False,
        print_blob=not derandomize,
    )
    run_state_machine_as_test(MachineHere, settings=wanted)


@pytest.mark.timeout(900)
@one_engine
def test_whatever_people_do_one_after_the_other_the_documents_are_where_the_rules_say(driver: ModelDriver) -> None:
    drive(driver, examples=5, steps=50, derandomize=True)


@pytest.mark.every_fault
@pytest.mark.timeout(3600)
@each_engine
def test_the_same_for_long_and_every_time_in_another_way(driver: ModelDriver) -> None:
    drive(driver, examples=60, steps=60, derandomize=False)
