"""The fence: an overtaken worker can write nothing (docs/design.md#fence, #i4)."""

import asyncio
from contextlib import suppress

import psycopg
import pytest
from psycopg.errors import LockNotAvailable

from muniment.processing.runs.repository import ClaimedRun, RunRepository, RunSuperseded
from muniment.processing.runs.tables import StepStatus
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from tests.support.seed import Person, Seed


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
async def run(database: Database, seed: Seed, owner: Person) -> ClaimedRun:
    """A run claimed by a first worker."""
    document_id = seed.document(seed.knowledge_base(owner), owner, status="pending")
    async with database.work(owner.principal) as work:
        run_id = await ProcrastinateQueue().enqueue_run(work, document_id, 1)
    claimed = await claim(database, ClaimedRun(run_id, owner.organization_id, document_id, epoch=1, attempt=0))
    assert claimed is not None
    return claimed


async def claim(database: Database, run: ClaimedRun) -> ClaimedRun | None:
    async with database.service_work(Service(run.organization_id)) as work:
        claimed = await RunRepository(work.session).claim(run.run_id)
    return claimed[0] if claimed else None


async def pass_fence(database: Database, run: ClaimedRun) -> None:
    async with database.service_work(Service(run.organization_id)) as work:
        await RunRepository(work.session).record_steps(run, {"IndexText": StepStatus.STARTED})


async def test_claiming_begins_the_first_attempt(seed: Seed, run: ClaimedRun) -> None:
    assert run.attempt == 1
    assert seed.one("SELECT status FROM document_processing_runs") == "in_progress"


async def test_the_fence_refuses_an_attempt_that_was_taken_over(database: Database, run: ClaimedRun) -> None:
    await pass_fence(database, run)
    second = await claim(database, run)
    assert second is not None
    assert second.attempt == 2
    await pass_fence(database, second)
    with pytest.raises(RunSuperseded):
        await pass_fence(database, run)


async def test_the_fence_refuses_an_older_epoch_and_a_document_that_is_gone(
    database: Database, seed: Seed, run: ClaimedRun
) -> None:
    seed.execute("UPDATE documents SET epoch = 2")
    with pytest.raises(RunSuperseded):
        await pass_fence(database, run)
    seed.execute("DELETE FROM documents")
    with pytest.raises(RunSuperseded):
        await pass_fence(database, run)


async def test_a_run_of_an_older_epoch_cannot_be_claimed(database: Database, seed: Seed, run: ClaimedRun) -> None:
    seed.execute("UPDATE documents SET epoch = 2")
    assert await claim(database, run) is None


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_a_run_that_has_ended_cannot_be_claimed(
    database: Database, seed: Seed, run: ClaimedRun, status: str
) -> None:
    seed.execute("UPDATE document_processing_runs SET status = %s", status)
    assert await claim(database, run) is None


async def test_of_workers_that_claim_at_once_one_holds_the_fence(database: Database, run: ClaimedRun) -> None:
    claims = [item for item in await asyncio.gather(*(claim(database, run) for _ in range(5))) if item]
    assert sorted(item.attempt for item in claims) == [2, 3, 4, 5, 6]
    holders = []
    for item in claims:
        with suppress(RunSuperseded):
            await pass_fence(database, item)
            holders.append(item.attempt)
    assert holders == [6]


async def test_nobody_moves_the_document_or_takes_the_run_while_the_fence_is_held(
    database: Database, address: DatabaseAddress, run: ClaimedRun
) -> None:
    moves = ("UPDATE documents SET epoch = epoch + 1", "UPDATE document_processing_runs SET attempt = attempt + 1")
    async with database.service_work(Service(run.organization_id)) as work:
        await RunRepository(work.session).record_steps(run, {"IndexText": StepStatus.STARTED})
        for move in moves:
            with psycopg.connect(address.conninfo) as other:
                other.execute("SET lock_timeout = '100ms'")
                with pytest.raises(LockNotAvailable):
                    other.execute(move)
