"""Locks that outlive transactions and end with their holder, however it ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, DatabaseUnavailable
from tests.support.cluster import service_login
from tests.support.jobs import wait_until
from tests.support.seed import Seed

HELD = """
    SELECT count(*) FROM pg_locks
     WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
KILL = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'muniment locks'
"""


@pytest.fixture
async def locks(address: DatabaseAddress) -> AsyncIterator[AdvisoryLocks]:
    locks = AdvisoryLocks(service_login(address), max_connections=2)
    yield locks
    await locks.close()


@pytest.fixture
async def others(address: DatabaseAddress) -> AsyncIterator[AdvisoryLocks]:
    """Locks of another process."""
    locks = AdvisoryLocks(service_login(address), max_connections=2)
    yield locks
    await locks.close()


async def is_free(locks: AdvisoryLocks, name: str = "a") -> bool:
    async with locks.try_acquire(name) as is_ours:
        return is_ours


async def test_a_second_attempt_is_refused_at_once_by_everybody(locks: AdvisoryLocks, others: AdvisoryLocks) -> None:
    async with locks.try_acquire("a") as is_ours:
        assert is_ours
        assert not await is_free(others)
        assert not await is_free(locks)  # the same process on another connection


async def test_it_is_held_across_transactions(locks: AdvisoryLocks, others: AdvisoryLocks, database: Database) -> None:
    async with locks.try_acquire("a"):
        for _ in range(3):
            async with database.service_work(Service()) as work:
                await work.session.connection()
            assert not await is_free(others)


async def test_it_is_free_when_the_block_has_ended(locks: AdvisoryLocks, others: AdvisoryLocks, seed: Seed) -> None:
    for _ in range(3):
        async with locks.try_acquire("a") as is_ours:
            assert is_ours
        assert seed.one(HELD) == 0
        assert await is_free(others)


async def test_a_refused_attempt_frees_nothing(locks: AdvisoryLocks, others: AdvisoryLocks) -> None:
    async with locks.try_acquire("a"):
        for _ in range(2):
            assert not await is_free(others)


async def test_it_is_free_after_an_error(locks: AdvisoryLocks, others: AdvisoryLocks, seed: Seed) -> None:
    async def fail() -> None:
        async with locks.try_acquire("a"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    await wait_until(lambda: seed.one(HELD) == 0)
    assert await is_free(others)
    assert await is_free(locks)


async def test_it_is_free_after_a_cancellation(locks: AdvisoryLocks, others: AdvisoryLocks, seed: Seed) -> None:
    began = asyncio.Event()

    async def hold() -> None:
        async with locks.try_acquire("a"):
            began.set()
            await asyncio.Event().wait()

    holder = asyncio.ensure_future(hold())
    await began.wait()
    assert not await is_free(others)
    holder.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holder
    await wait_until(lambda: seed.one(HELD) == 0)
    assert await is_free(others)
    assert await is_free(locks)


async def test_it_dies_with_the_connection_of_its_holder_who_is_told_at_the_end(
    locks: AdvisoryLocks, others: AdvisoryLocks, seed: Seed
) -> None:
    async def hold() -> None:
        async with locks.try_acquire("a") as is_ours:
            assert is_ours
            assert seed.one(KILL) == 1
            await wait_until(lambda: seed.one(HELD) == 0)
            assert await is_free(others)

    with pytest.raises(DatabaseUnavailable):
        await hold()
    assert await is_free(locks)  # on a new connection


async def test_who_is_refused_while_connections_die_is_told(locks: AdvisoryLocks, seed: Seed) -> None:
    assert await is_free(locks)
    assert seed.one(KILL) == 1  # an idle one in the pool
    await wait_until(lambda: seed.one(KILL) == 0)
    with pytest.raises(DatabaseUnavailable):
        await is_free(locks)
    assert await is_free(locks)


async def test_many_names_are_held_at_once(locks: AdvisoryLocks, others: AdvisoryLocks, seed: Seed) -> None:
    names = [f"name {number}" for number in range(8)]  # more than the pool keeps idle
    async with AsyncExitStack() as held:
        for name in names:
            assert await held.enter_async_context(locks.try_acquire(name))
        assert seed.one(HELD) == len(names)
        assert not any([await is_free(others, name) for name in names])
        assert await is_free(others, "another name")
    assert seed.one(HELD) == 0
    assert all([await is_free(others, name) for name in names])


async def test_a_group_holds_all_its_locks_until_its_end(
    locks: AdvisoryLocks, others: AdvisoryLocks, seed: Seed
) -> None:
    async with others.try_acquire("c"), locks.open_group() as group:
        assert await group.try_add("a")
        assert await group.try_add("b", is_shared=True)
        assert not await group.try_add("c")
        assert seed.one(HELD) == 3, "both on one connection, and that of the others"
        assert not await is_free(others, "a")
        assert not await is_free(others, "b")
    assert await is_free(others, "a")
    assert await is_free(others, "b")


async def test_of_many_at_once_one_gets_it(locks: AdvisoryLocks, others: AdvisoryLocks) -> None:
    done = asyncio.Event()
    answers: list[bool] = []

    async def attempt(locks: AdvisoryLocks) -> None:
        async with locks.try_acquire("a") as is_ours:
            answers.append(is_ours)
            if len(answers) == 8:
                done.set()
            await done.wait()

    await asyncio.gather(*(attempt(locks) for locks in [locks, others] * 4))
    assert sorted(answers) == [False] * 7 + [True]
