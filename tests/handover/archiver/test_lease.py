"""One archiver at a time: one that was paused notices that it lost the lease."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muniment.handover.archiver.lease import LEASE_KEY, LeaseHeld, LeaseLost, hold_lease
from muniment.handover.archiver.pass_context import PassOutcome
from muniment.storage.objects.folder.store import VersionedFolderStore
from muniment.storage.objects.port import VersionedObjectStore
from tests.contracts.test_versioned_object_store import build_s3_store
from tests.handover.archiver.effects import Act, PassEffectRecorder, record_stores
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver
from tests.handover.archiver.fakes import FakeClock


@pytest.fixture(params=["folder", "s3"])
async def queue(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VersionedObjectStore]:
    if request.param == "folder":
        queue: VersionedObjectStore = VersionedFolderStore(tmp_path / "queue")
    else:
        queue = build_s3_store(request.getfixturevalue("empty_s3_server"))
    yield queue
    await queue.close()


async def test_the_second_is_refused_while_the_first_works(queue: VersionedObjectStore) -> None:
    clock = FakeClock()
    async with hold_lease(queue, clock):
        with pytest.raises(LeaseHeld):
            async with hold_lease(queue, clock):
                pass


async def test_whoever_ends_leaves_it_to_the_next(queue: VersionedObjectStore) -> None:
    clock = FakeClock()
    async with hold_lease(queue, clock):
        pass
    async with hold_lease(queue, clock) as lease:
        await lease.check()


async def test_of_many_at_once_exactly_one_has_it(queue: VersionedObjectStore) -> None:
    clock, got = FakeClock(), list[int]()

    async def take(number: int) -> None:
        async with hold_lease(queue, clock):
            got.append(number)
            await finished.wait()

    finished = asyncio.Event()
    takers = [asyncio.create_task(take(number)) for number in range(8)]
    done, pending = set[asyncio.Task[None]](), set(takers)
    while len(pending) > 1:  # a busy store takes its time to refuse
        ended, pending = await asyncio.wait(pending, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert ended, "more than one of them is waiting"
        done |= ended
    finished.set()
    await asyncio.gather(*pending)

    assert len(got) == 1
    assert all(isinstance(taker.exception(), LeaseHeld) for taker in done)


async def test_the_lease_of_a_dead_one_is_taken_when_its_time_is_over(queue: VersionedObjectStore) -> None:
    paused, clock = FakeClock(), FakeClock()
    async with hold_lease(queue, paused) as old:
        clock.advance(seconds=125)
        async with hold_lease(queue, clock) as lease:
            await lease.check()
            paused.advance(seconds=125)
            with pytest.raises(LeaseLost):
                await old.check()
            await lease.check()


async def test_whoever_was_paused_goes_on_if_nobody_came(queue: VersionedObjectStore) -> None:
    clock = FakeClock()
    async with hold_lease(queue, clock) as lease:
        clock.advance(hours=1)
        await lease.check()
        with pytest.raises(LeaseHeld):
            async with hold_lease(queue, clock):
                pass


async def test_what_is_no_lease_is_nobodys(queue: VersionedObjectStore) -> None:
    await queue.put_if_absent(LEASE_KEY, b"?")
    async with hold_lease(queue, FakeClock()) as lease:
        await lease.check()


def pause_at(number: int, paused: asyncio.Event, over: asyncio.Event) -> Act:
    async def act(reached: int, _what: str) -> None:
        if reached == number:
            paused.set()
            await over.wait()

    return act


async def undisturbed(archiver_env: ArchiverEnvironment, name: str) -> list[str]:
    effects = PassEffectRecorder()
    await archiver_env.put(name)
    async with open_archiver(
        archiver_env.archiver(record_stores(archiver_env.stores, effects), concurrency=1)
    ) as archiver:
        effects.watch(archiver)
        await archiver.run()
    return effects.recorded


@pytest.mark.timeout(600)
async def test_one_that_was_paused_beyond_its_lease_does_no_harm_wherever_that_was(
    archiver_env: ArchiverEnvironment,
) -> None:
    reached = await undisturbed(archiver_env, "undisturbed")
    for number in range(len(reached)):
        paused, over = asyncio.Event(), asyncio.Event()
        effects = PassEffectRecorder(pause_at(number, paused, over))
        await archiver_env.put(f"paused after {number}")
        await archiver_env.put(f"after that, {number}")
        archiver_env.server.clear_requests()
        async with open_archiver(
            archiver_env.archiver(record_stores(archiver_env.stores, effects), concurrency=1)
        ) as archiver:
            effects.watch(archiver)
            working = asyncio.create_task(archiver.run())
            await asyncio.wait({working, asyncio.create_task(paused.wait())}, return_when=asyncio.FIRST_COMPLETED)
            archiver_env.clock.advance(minutes=5)
            second = await archiver_env.run()
            over.set()
            await working

        # Later passes have fewer effects: tags and correspondents exist.
        effect = effects.recorded[number] if number < len(effects.recorded) else "none"
        assert second.outcome is PassOutcome.DONE, effect
        # Between the last check of the lease and the first byte of an upload nothing can stop it: then there are two.
        assert len(archiver_env.server.requests("upload")) == (3 if effect == "about to upload" else 2), effect
        hashes = [document.sha256 for document in archiver_env.documents()]
        assert len(hashes) == len(set(hashes)), effect
        assert await archiver_env.waiting() == [], effect
        assert set(archiver_env.rows().values()) == {"archived"}, effect


async def test_one_that_was_paused_does_not_delete_what_was_handed_over_since(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    paused, over = asyncio.Event(), asyncio.Event()

    async def pause(_number: int, what: str) -> None:
        if what.startswith("PATCH "):
            paused.set()
            await over.wait()

    effects = PassEffectRecorder(pause)
    key = await archiver_env_v3.put()
    async with open_archiver(
        archiver_env_v3.archiver(record_stores(archiver_env_v3.stores, effects), concurrency=1)
    ) as archiver:
        effects.watch(archiver)
        working = asyncio.create_task(archiver.run())
        await paused.wait()
        archiver_env_v3.clock.advance(minutes=5)
        await archiver_env_v3.run()
        await archiver_env_v3.put()
        over.set()
        report = await working

    assert report.outcome is PassOutcome.LEASE_HELD
    assert await archiver_env_v3.waiting() == [key.sidecar, key.pdf]
