"""A run and its job are rows of the caller's transaction."""

import hashlib
from contextlib import suppress

import pytest
from sqlalchemy.exc import IntegrityError

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import RunRequest
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from tests.support.jobs import Enqueuer
from tests.support.seed import Seed

WAITING = ("reading", "todo", 0)


async def test_a_run_enters_its_queue_with_its_ids_and_nothing_else(queue: Enqueuer, seed: Seed) -> None:
    run_id = await queue.enqueue()
    assert queue.jobs() == [WAITING]
    expected = {"run_id": str(run_id), "organization_id": str(queue.owner.organization_id)}
    assert seed.one("SELECT args FROM procrastinate_jobs") == expected
    run = seed.rows("SELECT status, attempt, user_id, job_id FROM document_processing_runs WHERE run_id = %s", run_id)
    assert run == [("queued", 0, queue.owner.id, seed.one("SELECT id FROM procrastinate_jobs"))]


async def test_known_content_enters_the_fast_queue(queue: Enqueuer, seed: Seed) -> None:
    await queue.enqueue(queue.known_document())
    assert queue.jobs() == [("fast", "todo", 0)]
    assert seed.one("SELECT lock FROM procrastinate_jobs") is None


async def test_new_content_enters_the_reading_queue_under_a_lock(queue: Enqueuer, seed: Seed) -> None:
    for _ in range(2):
        await queue.enqueue(content_hmac="k1:abc")
    assert queue.jobs() == [WAITING] * 2
    locks = [row[0] for row in seed.rows("SELECT lock FROM procrastinate_jobs")]
    # The worker uses the same name if it moves a job, and the queue does not hold the content key itself.
    assert locks == [hashlib.sha256(b"k1:abc").hexdigest()] * 2


async def test_no_commit_no_run_and_no_job(queue: Enqueuer, database: Database, seed: Seed) -> None:
    document_id = queue.document()
    with suppress(ZeroDivisionError):
        async with database.work(queue.owner.principal) as work:
            await ProcrastinateQueue().enqueue_run(work, document_id, 1)
            raise ZeroDivisionError
    assert queue.jobs() == []
    assert seed.one("SELECT count(*) FROM document_processing_runs") == 0


async def test_a_document_has_one_run_per_epoch(queue: Enqueuer, seed: Seed) -> None:
    document_id = queue.document()
    await queue.enqueue(document_id)
    with pytest.raises(IntegrityError, match="uq_document_processing_runs_document_id_epoch"):
        await queue.enqueue(document_id)
    assert queue.jobs() == [WAITING]
    assert seed.one("SELECT count(*) FROM document_processing_runs") == 1


async def test_a_worker_enqueues_within_the_organization_of_its_job(
    queue: Enqueuer, database: Database, seed: Seed
) -> None:
    document_id = queue.document()
    async with database.service_work(Service(queue.owner.organization_id)) as work:
        await ProcrastinateQueue().enqueue_run(work, document_id, 1, RunRequest(purpose="reread"))
    assert seed.rows("SELECT user_id, purpose FROM document_processing_runs") == [(queue.owner.id, "reread")]


async def test_a_waiting_job_that_is_revoked_is_gone(queue: Enqueuer) -> None:
    run_id = await queue.enqueue()
    assert await queue.revoke(run_id)
    assert queue.jobs() == []
    assert not await queue.revoke(run_id)


async def test_revoking_is_undone_with_the_callers_transaction(queue: Enqueuer, database: Database) -> None:
    document_id = queue.document()
    await queue.enqueue(document_id)
    with suppress(ZeroDivisionError):
        async with database.work(queue.owner.principal) as work:
            assert await ProcrastinateQueue().revoke_run(work, document_id, 1)
            raise ZeroDivisionError
    assert queue.jobs() == [WAITING]
