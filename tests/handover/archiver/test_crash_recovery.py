"""An archiver may die after every single thing that it does; the next one ends where it would have (I6)."""

from contextlib import suppress

import pytest

from tests.handover.archiver.effects import Act, Death, Effects, die_after, do_nothing, watched_stores
from tests.handover.archiver.environment import Stage, opened

JOBS = 5


async def put_jobs(stage: Stage, name: str) -> None:
    """Five, of two types and two organizations; two of them have the same bytes."""
    other = stage.office.seed.person().organization_id
    await stage.put(f"{name} 1")
    await stage.put(f"{name} 2", document_type="care-plan")
    await stage.put(f"{name} 3", organization_id=other)
    await stage.put(f"{name} 4")
    await stage.put(f"{name} 4", document_type="contract")


async def passed(stage: Stage, act: Act = do_nothing) -> list[str]:
    """One pass; what it did."""
    effects = Effects(act)
    async with opened(stage.archiver(watched_stores(stage.stores, effects), concurrency=1)) as archiver:
        effects.watch(archiver)
        with suppress(Death, BaseExceptionGroup):
            await archiver.run()
    return effects.reached


async def check_archived_once(stage: Stage, after: str) -> None:
    """Each of the four contents exactly once in Paperless, the queue empty, every row archived."""
    hashes = [document.sha256 for document in stage.documents()]
    assert len(hashes) == len(set(hashes)), after
    assert await stage.waiting() == [], after
    assert await stage.waiting(stage.office.letters) == [], after
    rows = stage.rows()
    assert set(rows.values()) == {"archived"}, after
    assert {key.rpartition("/")[2].removesuffix(".pdf") for key in rows} == set(hashes), after
    assert stage.server.documents(is_trashed=True) == [], after


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_wherever_the_archiver_dies_the_next_one_ends_as_if_it_had_not(stage: Stage) -> None:
    await put_jobs(stage, "undisturbed")
    effects = await passed(stage)
    await check_archived_once(stage, "undisturbed")
    assert len(effects) > 8 * JOBS

    # Without those after which nothing is left to do: the lease is given back, the alerts are noted.
    for number, effect in enumerate(effects):
        await put_jobs(stage, f"dead after {number}")
        reached = await passed(stage, die_after(number))
        if len(reached) <= number:
            break  # tags and correspondents of the first pass are there already: it has fewer effects
        stage.clock.wind(minutes=5)  # its lease ends

        await passed(stage)

        await check_archived_once(stage, f"{number}: {effect}")
