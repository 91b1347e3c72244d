"""Jobs that compute vectors: one per artifact and model, in fair order, in slots of their own."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from procrastinate.jobs import Status

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import EMBEDDING, EmbeddingJob, GiveUpSlot, RetryLater, RunRequest
from muniment.storage.tasks.procrastinate.connector import build_queue_app
from muniment.storage.tasks.procrastinate.job_manager import FairJobManager
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from tests.support.cluster import service_login
from tests.support.jobs import RecordingHandler, running_worker, wait_until
from tests.support.seed import Seed


@pytest.fixture
async def manager(address: DatabaseAddress) -> AsyncIterator[FairJobManager]:
    app = build_queue_app(service_login(address), timeout=timedelta(seconds=5))
    async with app.open_async():
        assert isinstance(app.job_manager, FairJobManager)
        yield app.job_manager


async def enqueue(
    database: Database,
    organization_id: UUID,
    *,
    artifact_id: UUID | None = None,
    passages: int = 1,
    purpose: str = "first",
) -> UUID:
    artifact_id = artifact_id or uuid4()
    async with database.service_work(Service(organization_id)) as work:
        request = RunRequest(purpose=purpose)
        await ProcrastinateQueue().enqueue_embedding(work, artifact_id, "model", passages=passages, request=request)
    return artifact_id


async def claimed(manager: FairJobManager) -> list[UUID]:
    """Claim until nothing is left. Each job ends at once."""
    worker_id, artifacts = await manager.register_worker(), []
    while job := await manager.fetch_job([EMBEDDING], worker_id):
        artifacts.append(UUID(str(job.task_kwargs["artifact_text_id"])))
        await manager.finish_job_by_id_async(job.id or 0, Status.SUCCEEDED, delete_job=True)
    return artifacts


async def test_an_artifact_has_one_waiting_job_however_often_it_is_queued(database: Database, seed: Seed) -> None:
    organization_id = seed.organization()
    artifact_id = await enqueue(database, organization_id)
    await enqueue(database, organization_id, artifact_id=artifact_id)
    assert seed.one("SELECT count(*) FROM procrastinate_jobs WHERE queue_name = 'embedding'") == 1


async def test_two_workers_never_compute_the_same_artifact(
    database: Database, seed: Seed, manager: FairJobManager
) -> None:
    organization_id = seed.organization()
    artifact_id = await enqueue(database, organization_id)
    worker_id = await manager.register_worker()
    assert await manager.fetch_job([EMBEDDING], worker_id)
    await enqueue(database, organization_id, artifact_id=artifact_id)
    assert await manager.fetch_job([EMBEDDING], worker_id) is None


async def test_small_texts_go_before_books_and_rereads_last(
    database: Database, seed: Seed, manager: FairJobManager
) -> None:
    organization_id = seed.organization()
    reread = await enqueue(database, organization_id, purpose="reread")
    book = await enqueue(database, organization_id, passages=10_000)
    note = await enqueue(database, organization_id)
    assert await claimed(manager) == [note, book, reread]


async def test_organizations_take_turns(database: Database, seed: Seed, manager: FairJobManager) -> None:
    busy, other = seed.organization(), seed.organization()
    many = [await enqueue(database, busy) for _ in range(3)]
    one = await enqueue(database, other)
    assert (await claimed(manager)).index(one) <= 1
    assert len(many) == 3


async def test_a_worker_carries_out_jobs_and_puts_back_those_that_ask_for_it(
    address: DatabaseAddress, database: Database, seed: Seed
) -> None:
    organization_id = seed.organization()
    artifact_id = await enqueue(database, organization_id)
    seen: list[EmbeddingJob] = []
    answers = [GiveUpSlot(), RetryLater(0)]

    async def embed(job: EmbeddingJob) -> None:
        seen.append(job)
        if answers:
            raise answers.pop(0)

    async with running_worker(address, RecordingHandler(), embed=embed):
        await wait_until(lambda: len(seen) == 3)
        await wait_until(
            lambda: seed.one("SELECT count(*) FROM procrastinate_jobs WHERE queue_name = 'embedding'") == 0
        )
    assert {(job.artifact_text_id, job.fingerprint, job.organization_id) for job in seen} == {
        (artifact_id, "model", organization_id)
    }
    assert [job.attempts for job in seen] == [0, 0, 1]


async def test_a_job_of_a_worker_that_died_is_taken_over(
    address: DatabaseAddress, database: Database, seed: Seed
) -> None:
    await enqueue(database, seed.organization())
    worker_id = seed.one(
        "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 day') RETURNING id"
    )
    seed.execute("UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s", worker_id)
    began = asyncio.Event()

    async def embed(_: EmbeddingJob) -> None:
        began.set()

    async with running_worker(address, RecordingHandler(), embed=embed):
        async with asyncio.timeout(120):
            await began.wait()
