"""The archiver may die after each of its effects; the next pass ends as if it had not (docs/design.md#i6)."""

from contextlib import suppress

import pytest

from tests.handover.archiver.effects import Act, EffectRecorder, SimulatedCrash, crash_after, do_nothing, record_stores
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver

JOBS = 5


async def put_jobs(stage: ArchiverEnvironment, name: str) -> None:
    """Five, of two types and two organizations; two of them have the same bytes."""
    other = stage.office.seed.person().organization_id
    await stage.put(f"{name} 1")
    await stage.put(f"{name} 2", document_type="care-plan")
    await stage.put(f"{name} 3", organization_id=other)
    await stage.put(f"{name} 4")
    await stage.put(f"{name} 4", document_type="contract")


async def passed(stage: ArchiverEnvironment, act: Act = do_nothing) -> list[str]:
    """One pass; what it did."""
    effects = EffectRecorder(act)
    async with open_archiver(stage.archiver(record_stores(stage.stores, effects), concurrency=1)) as archiver:
        effects.watch(archiver)
        with suppress(SimulatedCrash, BaseExceptionGroup):
            await archiver.run()
    return effects.recorded


async def check_archived_once(stage: ArchiverEnvironment, after: str) -> None:
    """Each of the four contents exactly once in Paperless, the queue empty, every row archived."""
    hashes = [document.sha256 for document in stage.documents()]
    assert len(hashes) == len(set(hashes)), after
    assert await stage.waiting() == [], after
    assert await stage.waiting(stage.office.dead_letters) == [], after
    rows = stage.rows()
    assert set(rows.values()) == {"archived"}, after
    assert {key.rpartition("/")[2].removesuffix(".pdf") for key in rows} == set(hashes), after
    assert stage.server.documents(is_trashed=True) == [], after


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_wherever_the_archiver_dies_the_next_one_ends_as_if_it_had_not(stage: ArchiverEnvironment) -> None:
    await put_jobs(stage, "undisturbed")
    effects = await passed(stage)
    await check_archived_once(stage, "undisturbed")
    assert len(effects) > 8 * JOBS

    # Without those after which nothing is left to do: the lease is given back, the alerts are noted.
    for number, effect in enumerate(effects):
        await put_jobs(stage, f"dead after {number}")
        reached = await passed(stage, crash_after(number))
        if len(reached) <= number:
            break  # tags and correspondents of the first pass are there already: it has fewer effects
        stage.clock.advance(minutes=5)  # its lease ends

        await passed(stage)

        await check_archived_once(stage, f"{number}: {effect}")
