"""Contract of `TaskQueue`: what lifecycle, receipts and reconciliation rely on, with every engine."""

from datetime import timedelta
from functools import partial

import pytest

from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import QueueHealth, TaskQueue
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from tests.support.jobs import STALLED_AFTER, Enqueuer
from tests.support.seed import Seed

LATER = timedelta(hours=1)


@pytest.fixture
def tasks() -> TaskQueue:
    return ProcrastinateQueue()


@pytest.fixture
def queue(database: Database, seed: Seed) -> Enqueuer:
    return Enqueuer(database, seed)


def job_ids(seed: Seed) -> list[str]:
    return [str(job_id) for (job_id,) in seed.rows("SELECT job_id FROM document_processing_runs ORDER BY job_id")]


async def test_jobs_are_known_by_text_ids_until_they_are_deleted(
    tasks: TaskQueue, queue: Enqueuer, database: Database, seed: Seed
) -> None:
    await queue.enqueue()
    await queue.enqueue()
    deleted, other = job_ids(seed)
    async with database.service_work(Service(queue.owner.organization_id)) as work:
        assert set(await tasks.list_existing_jobs(work, [deleted, other])) == {deleted, other}
        await tasks.delete_jobs(work, [deleted])
        assert await tasks.list_existing_jobs(work, [deleted, other]) == [other]


async def test_the_id_of_another_engine_is_the_id_of_no_job(
    tasks: TaskQueue, queue: Enqueuer, database: Database
) -> None:
    await queue.enqueue()
    foreign = ["0191d1c0-5d4c-7d6e-8f00-000000000001", "", "-1", "²"]
    async with database.service_work(Service(queue.owner.organization_id)) as work:
        assert await tasks.list_existing_jobs(work, foreign) == []
        await tasks.delete_jobs(work, foreign)
        assert [await tasks.delete_orphaned_job(work, now() + LATER, job_id) for job_id in foreign] == [False] * 4
    assert len(queue.jobs()) == 1


async def test_a_run_without_a_job_is_stalled_until_it_is_queued_again(
    tasks: TaskQueue, queue: Enqueuer, database: Database, seed: Seed
) -> None:
    run_id, other = await queue.enqueue(), await queue.enqueue()
    async with database.service_work(Service(queue.owner.organization_id)) as work:
        stalled = partial(tasks.list_stalled_runs, work, stalled_after=STALLED_AFTER, unchanged_since=now() + LATER)
        assert await stalled() == []
        await tasks.delete_jobs(work, job_ids(seed)[:1])

        assert await stalled() == [run_id]
        assert await stalled(run_id=other) == []
        assert await stalled(unchanged_since=now() - LATER) == []
        await tasks.requeue_run(work, run_id)
        assert await stalled() == []
    assert len(queue.jobs()) == 2


async def test_a_waiting_job_is_orphaned_once_its_run_has_ended(
    tasks: TaskQueue, queue: Enqueuer, database: Database, seed: Seed
) -> None:
    await queue.enqueue()
    (job_id,) = job_ids(seed)
    async with database.service_work(Service(queue.owner.organization_id)) as work:
        assert not await tasks.delete_orphaned_job(work, now() + LATER, job_id)
    seed.execute("UPDATE document_processing_runs SET status = 'failed'")
    async with database.service_work(Service(queue.owner.organization_id)) as work:
        assert await tasks.list_orphaned_jobs(work, now() - LATER) == []
        assert await tasks.list_orphaned_jobs(work, now() + LATER) == [job_id]
        assert await tasks.delete_orphaned_job(work, now() + LATER, job_id)
        assert await tasks.list_orphaned_jobs(work, now() + LATER) == []


async def test_health_counts_waiting_jobs_and_workers_with_a_recent_heartbeat(
    tasks: TaskQueue, queue: Enqueuer, database: Database, seed: Seed
) -> None:
    await queue.enqueue()
    seed.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now()), (now() - interval '1 hour')")
    async with database.service_work(Service()) as work:
        assert await tasks.health(work, stalled_after=timedelta(minutes=1)) == QueueHealth(1, 1)
