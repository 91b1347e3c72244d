"""The archiver may crash after each of its effects; the next pass gives the same result (docs/design.md#i6)."""

import re
from collections.abc import Iterable
from contextlib import suppress

import pytest

from tests.handover.archiver.effects import Act, PassEffectRecorder, crash_after, do_nothing, record_stores
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver
from tests.support.effects import SimulatedCrash

JOBS = 5
TASK_REQUESTS = 8
"""A task takes longer than an upload, so that several uploads are open at the same time."""
NAMES = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|[0-9]+")
"""What differs between two effects of one kind: ids, hashes, counts."""


async def put_jobs(archiver_env: ArchiverEnvironment, name: str) -> None:
    """Add five jobs of two types and two organizations; two of them have the same bytes."""
    other = archiver_env.office.seed.person().organization_id
    await archiver_env.put(f"{name} 1")
    await archiver_env.put(f"{name} 2", document_type="care-plan")
    await archiver_env.put(f"{name} 3", organization_id=other)
    await archiver_env.put(f"{name} 4")
    await archiver_env.put(f"{name} 4", document_type="contract")


async def passed(archiver_env: ArchiverEnvironment, act: Act = do_nothing, *, concurrency: int = 1) -> list[str]:
    """Run one pass and return its effects."""
    effects = PassEffectRecorder(act)
    async with open_archiver(
        archiver_env.archiver(record_stores(archiver_env.stores, effects), concurrency=concurrency)
    ) as archiver:
        effects.watch(archiver)
        with suppress(SimulatedCrash, BaseExceptionGroup):
            await archiver.run()
    return effects.recorded


async def check_archived_once(archiver_env: ArchiverEnvironment, after: str) -> None:
    """Check that Paperless has each of the four contents once, the queue is empty, and every row is archived."""
    hashes = [document.sha256 for document in archiver_env.documents()]
    assert len(hashes) == len(set(hashes)), after
    assert await archiver_env.waiting() == [], after
    assert await archiver_env.waiting(archiver_env.office.dead_letters) == [], after
    rows = archiver_env.rows()
    assert set(rows.values()) == {"archived"}, after
    assert {key.rpartition("/")[2].removesuffix(".pdf") for key in rows} == set(hashes), after
    assert archiver_env.server.documents(is_trashed=True) == [], after


async def undisturbed(archiver_env: ArchiverEnvironment) -> list[str]:
    """Return the effects of a pass over these jobs when tags and correspondents exist."""
    for name in ("with everything to be made", "undisturbed"):
        await put_jobs(archiver_env, name)
        effects = await passed(archiver_env)
        await check_archived_once(archiver_env, name)
    assert len(effects) > 6 * JOBS
    return effects


def one_of_each_kind(effects: list[str]) -> list[int]:
    """Return one number for each kind of effect, spread over the jobs."""
    kinds = dict[str, list[int]]()
    for number, effect in enumerate(effects):
        kinds.setdefault(NAMES.sub("…", effect), []).append(number)
    return sorted(numbers[turn % len(numbers)] for turn, numbers in enumerate(kinds.values()))


async def check_deaths(
    archiver_env: ArchiverEnvironment, effects: list[str], numbers: Iterable[int], *, concurrency: int = 1
) -> None:
    for number in numbers:
        await put_jobs(archiver_env, f"dead after {number}")
        assert len(await passed(archiver_env, crash_after(number), concurrency=concurrency)) > number
        archiver_env.clock.advance(minutes=5)  # the lease expires

        await passed(archiver_env)

        await check_archived_once(archiver_env, f"{number}: {effects[number]}")


@pytest.mark.slow
async def test_wherever_the_archiver_dies_the_next_one_ends_as_if_it_had_not(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    effects = await undisturbed(archiver_env_v3)
    await check_deaths(archiver_env_v3, effects, one_of_each_kind(effects))


@pytest.mark.slow
async def test_with_several_uploads_open_its_death_repeats_none_and_loses_none(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    effects = await undisturbed(archiver_env_v3)
    archiver_env_v3.server.set(task_requests=TASK_REQUESTS)
    await check_deaths(archiver_env_v3, effects, one_of_each_kind(effects), concurrency=3)


@pytest.mark.every_fault
@pytest.mark.timeout(1200)
async def test_with_several_uploads_open_it_may_die_after_every_single_effect(
    archiver_env: ArchiverEnvironment,
) -> None:
    effects = await undisturbed(archiver_env)
    archiver_env.server.set(task_requests=TASK_REQUESTS)
    await check_deaths(archiver_env, effects, range(len(effects) - 1), concurrency=3)


@pytest.mark.every_fault
@pytest.mark.timeout(1200)
async def test_an_archiver_may_die_after_every_single_effect(archiver_env: ArchiverEnvironment) -> None:
    effects = await undisturbed(archiver_env)
    await check_deaths(archiver_env, effects, range(len(effects)))
