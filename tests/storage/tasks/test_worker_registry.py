"""The registry tells how workers ended: still there, told to stop, or dead."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from muniment.storage.db.base import new_id, now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.tasks.worker_registry import WorkerRegistry
from tests.support.jobs import wait_until
from tests.support.seed import Seed


def registry(database: Database) -> WorkerRegistry:
    return WorkerRegistry(database, heartbeat=timedelta(milliseconds=20), stalled_after=timedelta(seconds=30))


async def have_others_died(database: Database, *holders: UUID, since: datetime, with_suspects: bool = False) -> bool:
    async with database.service_work(Service()) as work:
        return await registry(database).have_others_died(work, holders, since, with_suspects=with_suspects)


async def test_a_worker_sends_heartbeats_until_it_leaves_and_says_so(database: Database, seed: Seed) -> None:
    async with registry(database).registered():
        first = seed.one("SELECT heartbeat_at FROM task_workers")
        await wait_until(lambda: seed.one("SELECT heartbeat_at FROM task_workers") > first)
        assert seed.one("SELECT stopping_at FROM task_workers") is None
    assert seed.one("SELECT stopping_at FROM task_workers") is not None


async def test_a_stop_is_announced_before_the_work_is_cancelled(database: Database, seed: Seed) -> None:
    seen: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append(seed.one("SELECT stopping_at IS NOT NULL FROM task_workers"))

    own = registry(database)
    async with own.registered():
        task = asyncio.create_task(own.run_until_stopped(work()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert seen == [True]


@pytest.mark.parametrize(
    ("silent_minutes", "column", "value", "has_died"),
    [
        (5, "is_isolating", False, True),
        (5, "is_isolating", True, False),
        (5, "stopping_at", now(), False),
        (0, "is_isolating", False, False),
        (60, "is_isolating", False, False),
    ],
    ids=["dead", "dead with a suspect", "stopped", "alive", "dead before"],
)
async def test_others_have_died_if_they_vanished_without_a_suspect(
    database: Database, seed: Seed, silent_minutes: int, column: str, value: object, has_died: bool
) -> None:
    other, since = new_id(), now() - timedelta(minutes=30)
    heartbeat_at = now() - timedelta(minutes=silent_minutes)
    seed.execute(
        f"INSERT INTO task_workers (worker_id, heartbeat_at, {column}) VALUES (%s, %s, %s)", other, heartbeat_at, value
    )
    assert await have_others_died(database, since=since) is has_died
    assert not await have_others_died(database, other, since=since)
    is_suspect = (column, value) == ("is_isolating", True)
    assert await have_others_died(database, since=since, with_suspects=True) is (has_died or is_suspect)


async def test_rows_of_last_week_are_deleted(database: Database, seed: Seed) -> None:
    old = "INSERT INTO task_workers (worker_id, heartbeat_at) VALUES (%s, now() - interval '8 days')"
    seed.execute(old, new_id())
    own = registry(database)
    async with own.registered():
        assert seed.rows("SELECT worker_id FROM task_workers") == [(own.worker_id,)]
