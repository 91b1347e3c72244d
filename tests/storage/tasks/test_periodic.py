"""Sweeps run on time, once, and never block the next one."""

import asyncio
import time
from datetime import timedelta

import pytest
from croniter import croniter  # type: ignore[import-untyped]  # comes with Procrastinate

from muniment.bootstrap.stores import build_stores
from muniment.bootstrap.worker import build_worker
from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.tasks.port import MAINTENANCE, NIGHTLY, PeriodicTask
from muniment.storage.tasks.procrastinate.connector import build_queue_app
from muniment.storage.tasks.procrastinate.worker import delete_old_jobs, requeue_stalled_jobs, to_procrastinate_cron
from tests.support.cluster import service_login
from tests.support.jobs import STALLED_AFTER, running_worker, wait_until
from tests.support.seed import Seed

EVERY_SECOND = "* * * * * *"


class Sweep:
    def __init__(self, *, fails: bool = False, hangs: bool = False) -> None:
        self.times: list[float] = []
        self._fails, self._hangs = fails, hangs

    async def __call__(self) -> None:
        self.times.append(time.time())
        if self._fails:
            raise ZeroDivisionError
        if self._hangs:
            await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("cron", "seconds"), [("*/5 * * * * *", 5), ("*/10 * * * * *", 10), ("0 * * * * *", 60), ("30 7 * * * *", 3600)]
)
def test_the_seconds_stand_in_front(cron: str, seconds: int) -> None:
    times = croniter(to_procrastinate_cron(cron), start_time=1_700_000_000)
    first, second = times.get_next(float), times.get_next(float)
    assert second - first == seconds


async def test_a_sweep_every_two_seconds_runs_every_two_seconds(address: DatabaseAddress) -> None:
    sweep = Sweep()
    async with running_worker(address, None, periodic=[PeriodicTask("test.sweep", "*/2 * * * * *", sweep)]):
        await wait_until(lambda: len(sweep.times) >= 4)
    # The first run makes up for the last one due; then every even second, half a second late.
    pauses = [later - earlier for earlier, later in zip(sweep.times[1:], sweep.times[2:], strict=False)]
    assert all(1.5 < pause < 2.5 for pause in pauses), pauses


async def test_of_two_workers_one_runs_a_sweep_each_time(address: DatabaseAddress, seed: Seed) -> None:
    sweep = Sweep()
    periodic = [PeriodicTask("test.sweep", EVERY_SECOND, sweep)]
    began = time.time()
    async with running_worker(address, None, periodic=periodic), running_worker(address, None, periodic=periodic):
        await wait_until(lambda: seed.one("SELECT count(*) FROM procrastinate_workers") == 4)  # two queues each
        await wait_until(lambda: len(sweep.times) >= 4)
    assert len(sweep.times) <= time.time() - began + 2


async def test_sweeps_leave_no_rows_whether_they_succeed_or_fail(address: DatabaseAddress, seed: Seed) -> None:
    good, bad = Sweep(), Sweep(fails=True)
    periodic = [PeriodicTask("test.good", EVERY_SECOND, good), PeriodicTask("test.bad", EVERY_SECOND, bad)]
    async with running_worker(address, None, periodic=periodic) as worker:
        await wait_until(lambda: len(good.times) >= 2 and len(bad.times) >= 2)
        assert not worker.done()
    assert seed.one("SELECT count(*) FROM procrastinate_jobs WHERE status <> 'todo'") == 0


async def test_a_sweep_that_is_cut_short_by_a_stop_is_not_an_error(address: DatabaseAddress, seed: Seed) -> None:
    sweep = Sweep(hangs=True)
    async with running_worker(address, None, periodic=[PeriodicTask("test.sweep", EVERY_SECOND, sweep)]):
        await wait_until(lambda: sweep.times)
    assert seed.one("SELECT count(*) FROM procrastinate_jobs WHERE status <> 'todo'") == 0


async def test_a_sweep_of_a_dead_worker_does_not_hold_up_the_rescue(address: DatabaseAddress, seed: Seed) -> None:
    add = "INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, status) VALUES (%s, %s, %s, %s)"
    seed.execute(add, MAINTENANCE, "test.sweep", "test.sweep", "doing")
    seed.execute(add, MAINTENANCE, "test.sweep", "test.sweep", "todo")
    seed.execute(add, "reading", "processing.run", "a run", "doing")
    async with build_queue_app(service_login(address), timeout=timedelta(seconds=5)).open_async() as app:
        await asyncio.gather(
            *(requeue_stalled_jobs(app, STALLED_AFTER) for _ in range(5))
        )  # as by many concurrent workers
    left = seed.rows("SELECT task_name, status::text FROM procrastinate_jobs ORDER BY id")
    assert left == [("test.sweep", "todo"), ("processing.run", "todo")]


async def test_ended_jobs_are_forgotten_after_a_week_and_waiting_ones_never(
    address: DatabaseAddress, seed: Seed
) -> None:
    for status in ("todo", "doing", "failed", "cancelled", "aborted"):
        add = "INSERT INTO procrastinate_jobs (queue_name, task_name, status) VALUES ('reading', %s, %s)"
        seed.execute(add, f"old {status}", status)
        seed.execute(add, f"new {status}", status)
    seed.execute(
        "INSERT INTO procrastinate_events (job_id, type, at) SELECT id, 'failed', now() FROM procrastinate_jobs"
    )
    seed.execute(
        "UPDATE procrastinate_events SET at = now() - interval '8 days'"
        " WHERE job_id IN (SELECT id FROM procrastinate_jobs WHERE task_name LIKE 'old%%')"
    )
    async with build_queue_app(service_login(address), timeout=timedelta(seconds=5)).open_async() as app:
        await delete_old_jobs(app)
    left = {name for (name,) in seed.rows("SELECT task_name FROM procrastinate_jobs WHERE task_name LIKE 'old%%'")}
    assert left == {"old todo", "old doing"}
    assert seed.one("SELECT count(*) FROM procrastinate_jobs WHERE task_name LIKE 'new%%'") == 5


async def test_the_sweeps_of_the_program_really_run(settings: Settings, seed: Seed) -> None:
    stores = build_stores(settings)
    task = asyncio.create_task(build_worker(settings, stores).run())
    names = "SELECT DISTINCT task_name FROM procrastinate_periodic_defers"
    expected = {("documents.sweep_uploads",), ("deletions.carry_out",)}
    await wait_until(lambda: expected <= set(seed.rows(names)))
    task.cancel()
    await asyncio.wait([task])
    await stores.close()


async def test_a_sweep_that_takes_its_time_does_not_hold_up_the_others(address: DatabaseAddress) -> None:
    long, short = Sweep(hangs=True), Sweep()
    periodic = [PeriodicTask("test.long", EVERY_SECOND, long, NIGHTLY), PeriodicTask("test.short", EVERY_SECOND, short)]
    async with running_worker(address, None, periodic=periodic):
        await wait_until(lambda: len(long.times) == 1 and len(short.times) >= 2)
