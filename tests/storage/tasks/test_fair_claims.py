"""In which order jobs of several organizations are claimed, and when a slot is given up."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest
from procrastinate.jobs import Status
from sqlalchemy import text

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import FAST, READING, GiveUpSlot, RetryLater, RunJob, RunRequest
from muniment.storage.tasks.procrastinate import worker
from muniment.storage.tasks.procrastinate.connector import build_queue_app
from muniment.storage.tasks.procrastinate.job_manager import GUEST_SECONDS, GUESTS, FairJobManager
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from tests.support.cluster import service_login
from tests.support.jobs import Enqueuer, RecordingHandler, running_worker, wait_until
from tests.support.seed import Seed

MEGABYTE = 1_000_000


@pytest.fixture
async def manager(address: DatabaseAddress) -> AsyncIterator[FairJobManager]:
    app = build_queue_app(service_login(address), timeout=timedelta(seconds=5))
    async with app.open_async():
        assert isinstance(app.job_manager, FairJobManager)
        yield app.job_manager


@pytest.fixture
def others(database: Database, seed: Seed) -> list[Enqueuer]:
    """Two more organizations."""
    return [Enqueuer(database, seed), Enqueuer(database, seed)]


class Claims:
    """Claims jobs of one queue in the name of one worker."""

    def __init__(self, manager: FairJobManager, worker_id: int, queue: str = READING) -> None:
        self.manager, self.worker_id, self.queue = manager, worker_id, queue

    async def next(self, *, is_guest: bool = False) -> UUID | None:
        job = await self.manager.fetch_job([self.queue, GUESTS] if is_guest else [self.queue], self.worker_id)
        return UUID(str(job.task_kwargs["run_id"])) if job else None

    async def all(self) -> list[UUID]:
        """Claim until nothing is left. Each job ends at once."""
        claimed = []
        while job := await self.manager.fetch_job([self.queue], self.worker_id):
            claimed.append(UUID(str(job.task_kwargs["run_id"])))
            await self.manager.finish_job_by_id_async(job.id or 0, Status.SUCCEEDED, delete_job=True)
        return claimed


@pytest.fixture
async def claims(manager: FairJobManager) -> Claims:
    return Claims(manager, await manager.register_worker())


async def test_organizations_take_turns_however_many_jobs_one_has(
    claims: Claims, queue: Enqueuer, others: list[Enqueuer]
) -> None:
    many = [await queue.enqueue() for _ in range(4)]
    second, third = [await other.enqueue() for other in others]
    claimed = await claims.all()
    assert set(claimed[1:3]) == {second, third}
    assert [run_id for run_id in claimed if run_id in many] == many


async def test_an_organization_without_a_slot_goes_first(
    claims: Claims, queue: Enqueuer, others: list[Enqueuer], seed: Seed
) -> None:
    first, *_ = [await queue.enqueue() for _ in range(3)]
    assert await claims.next() == first
    other = await others[0].enqueue()
    # Even if it has used more time than the one that holds a slot.
    seed.execute("INSERT INTO queue_usage VALUES ('reading', %s, 1000, now())", others[0].owner.organization_id)
    assert await claims.next() == other


async def test_the_organization_that_used_less_time_recently_goes_first(
    claims: Claims, queue: Enqueuer, others: list[Enqueuer], seed: Seed
) -> None:
    heavy, light = await queue.enqueue(), await others[0].enqueue()
    for enqueuer, seconds in ((queue, 20), (others[0], 10)):
        usage = "INSERT INTO queue_usage VALUES ('reading', %s, %s, now())"
        seed.execute(usage, enqueuer.owner.organization_id, seconds)
    assert [await claims.next(), await claims.next()] == [light, heavy]


async def test_usage_fades(claims: Claims, queue: Enqueuer, others: list[Enqueuer], seed: Seed) -> None:
    long_ago, now = await queue.enqueue(), await others[0].enqueue()
    usage = "INSERT INTO queue_usage VALUES ('reading', %s, %s, now() - %s)"
    seed.execute(usage, queue.owner.organization_id, 100, timedelta(minutes=10))
    seed.execute(usage, others[0].owner.organization_id, 1, timedelta(0))
    assert [await claims.next(), await claims.next()] == [long_ago, now]


@pytest.mark.parametrize("age", [timedelta(hours=23), timedelta(days=400), timedelta(days=-2)], ids=str)
async def test_usage_of_any_age_can_be_compared_and_charged(
    claims: Claims, queue: Enqueuer, seed: Seed, age: timedelta
) -> None:
    """Without a limit `exp` fails after twelve hours, or at once if the clock of the database was set back."""
    seed.execute("INSERT INTO queue_usage VALUES ('reading', %s, 5, now() - %s)", queue.owner.organization_id, age)
    run_id = await queue.enqueue()
    assert await claims.next() == run_id
    assert not await claims.manager.is_turn_over(READING, queue.owner.organization_id, 1, priority=0)


async def test_small_files_go_before_large_ones_of_the_same_organization(claims: Claims, queue: Enqueuer) -> None:
    large = await queue.enqueue(file_size=40 * MEGABYTE)
    medium = await queue.enqueue(file_size=MEGABYTE)
    small = await queue.enqueue(file_size=1000)
    assert await claims.all() == [small, medium, large]


async def test_a_large_file_that_has_waited_goes_before_small_ones(claims: Claims, queue: Enqueuer, seed: Seed) -> None:
    large = await queue.enqueue(file_size=250 * MEGABYTE)
    # Its priority is what it would be if it had been uploaded half an hour ago.
    seed.execute("UPDATE procrastinate_jobs SET priority = priority + 31 * 60")
    small = await queue.enqueue(file_size=1000)
    assert await claims.all() == [large, small]


async def test_jobs_from_before_an_upgrade_pass_newer_ones_of_their_own_organization_only(
    claims: Claims, queue: Enqueuer, others: list[Enqueuer], seed: Seed
) -> None:
    old = [await queue.enqueue(file_size=250 * MEGABYTE), await queue.enqueue()]
    # Before migration 0035, jobs had neither a deadline nor a lock.
    seed.execute("UPDATE procrastinate_jobs SET priority = 0, lock = NULL")
    new, other = await queue.enqueue(), await others[0].enqueue()
    claimed = await claims.all()
    assert [run_id for run_id in claimed if run_id != other] == [*old, new]
    assert claimed.index(other) == 1


async def test_a_stalled_run_that_is_queued_again_keeps_its_place(
    claims: Claims, queue: Enqueuer, database: Database, seed: Seed
) -> None:
    stalled = await queue.enqueue()
    seed.execute("UPDATE document_processing_runs SET created_at = created_at - interval '1 minute'")
    seed.execute("DELETE FROM procrastinate_jobs")
    later = await queue.enqueue(queue.known_document())
    async with database.service_work(Service(queue.owner.organization_id)) as work:
        await ProcrastinateQueue().requeue_run(work, stalled)
    claims.queue = FAST  # a run that is queued again may have its artifact by now
    assert await claims.all() == [stalled, later]


async def test_a_reread_waits_for_uploads(claims: Claims, queue: Enqueuer, database: Database, seed: Seed) -> None:
    async with database.work(queue.owner.principal) as work:
        reread = await ProcrastinateQueue().enqueue_run(work, queue.document(), 1, RunRequest(purpose="reread"))
    seed.execute("UPDATE procrastinate_jobs SET priority = priority + 12 * 3600")  # queued twelve hours ago
    upload = await queue.enqueue(file_size=20 * MEGABYTE)
    assert await claims.all() == [upload, reread]


async def test_jobs_of_the_same_computation_run_one_after_the_other(
    claims: Claims, queue: Enqueuer, manager: FairJobManager, seed: Seed
) -> None:
    first, second, unrelated = [await queue.enqueue() for _ in range(3)]
    for run_id in (first, second):
        seed.execute("UPDATE procrastinate_jobs SET lock = 'same content' WHERE queueing_lock = %s", str(run_id))
    assert await claims.next() == first
    assert await claims.next() == unrelated
    assert await claims.next() is None
    job_id = seed.one("SELECT id FROM procrastinate_jobs WHERE queueing_lock = %s", str(first))
    await manager.finish_job_by_id_async(job_id, Status.SUCCEEDED, delete_job=True)
    assert await claims.next() == second


async def test_a_worker_of_the_previous_version_may_claim_the_same_content_at_the_same_moment(
    claims: Claims, address: DatabaseAddress, queue: Enqueuer, others: list[Enqueuer], seed: Seed
) -> None:
    _, second = await queue.enqueue(content_hmac="k1:abc"), await queue.enqueue(content_hmac="k1:abc")
    unrelated = await others[0].enqueue(content_hmac="k1:other")
    seed.execute("INSERT INTO queue_usage VALUES ('reading', %s, 50, now())", others[0].owner.organization_id)
    async with await psycopg.AsyncConnection.connect(service_login(address).conninfo) as previous:
        claim = "UPDATE procrastinate_jobs SET status = 'doing' WHERE queueing_lock = %s"
        await previous.execute(claim, [str(second)])
        ours = asyncio.create_task(claims.next())
        waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        await wait_until(lambda: seed.one(waits) == 1)
        await previous.commit()
        assert await ours == unrelated


@pytest.mark.parametrize("end", [None, RetryLater(0)], ids=["done", "put back"])
async def test_the_end_of_a_computation_is_announced_to_those_who_wait_for_it(
    address: DatabaseAddress, queue: Enqueuer, monkeypatch: pytest.MonkeyPatch, end: Exception | None
) -> None:
    monkeypatch.setattr(worker, "POLLING_SECONDS", 3600)
    ends = [end]

    async def read(_: RunJob) -> None:
        await asyncio.sleep(0.1)  # the worker looks for a job for its other slot meanwhile, and finds none
        if ends and (error := ends.pop()):
            raise error

    for _ in range(3):
        await queue.enqueue(content_hmac="k1:same")
    async with running_worker(address, RecordingHandler(read), concurrency=2):
        await wait_until(lambda: not queue.jobs(), within=20)


async def test_a_guest_has_no_slot_while_others_have(claims: Claims, queue: Enqueuer, others: list[Enqueuer]) -> None:
    first, second = await queue.enqueue(), await queue.enqueue()
    assert await claims.next(is_guest=True) is None, "nobody holds a slot, so the ordinary ones are free"
    assert await claims.next() == first
    assert await claims.next(is_guest=True) is None, "this organization has a slot"
    guest = await others[0].enqueue()
    assert await claims.next(is_guest=True) == guest
    assert await claims.next() == second


async def test_searches_for_guests_keep_a_distance(claims: Claims, queue: Enqueuer) -> None:
    await queue.enqueue()
    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(claims.next(is_guest=True) for _ in range(4)))
    assert loop.time() - began >= 3 * GUEST_SECONDS * 0.99  # clocks of two kinds
    assert await claims.next() is not None, "an ordinary search does not wait for them"


async def test_concurrent_claims_give_two_organizations_one_slot_each(
    manager: FairJobManager, queue: Enqueuer, others: list[Enqueuer]
) -> None:
    runs = {await queue.enqueue(): "first", await queue.enqueue(): "first", await others[0].enqueue(): "second"}
    workers = [Claims(manager, await manager.register_worker()) for _ in range(2)]
    claimed = await asyncio.gather(*(worker.next() for worker in workers))
    assert sorted(runs[run_id] for run_id in claimed if run_id) == ["first", "second"]


async def test_a_claim_waits_for_the_one_before_and_sees_which_computation_it_has_begun(
    claims: Claims, queue: Enqueuer, others: list[Enqueuer], database: Database, seed: Seed
) -> None:
    for enqueuer in (queue, others[0]):
        await enqueuer.enqueue()
    seed.execute("UPDATE procrastinate_jobs SET lock = 'content that two organizations share'")
    claim = text("SELECT id FROM claim_run_job('reading', :worker_id, false)")
    async with database.service_work(Service()) as work:
        assert await work.session.scalar(claim, {"worker_id": claims.worker_id})
        second = asyncio.create_task(claims.next())
        await asyncio.sleep(0.2)
        assert not second.done()
    assert await second is None


async def test_a_job_that_is_being_cancelled_holds_up_nobody(
    claims: Claims, queue: Enqueuer, others: list[Enqueuer], database: Database, seed: Seed
) -> None:
    await queue.enqueue()
    other = await others[0].enqueue()
    seed.execute("INSERT INTO queue_usage VALUES ('reading', %s, 50, now())", others[0].owner.organization_id)
    async with database.work(queue.owner.principal) as work:
        await work.session.execute(text("SELECT revoke_run(document_id, epoch) FROM document_processing_runs LIMIT 1"))
        assert await claims.next() == other
    assert await claims.next() is None


class TestTurns:
    """When a job has to give up its slot."""

    @pytest.fixture(autouse=True)
    def _seed(self, seed: Seed) -> None:
        self.seed = seed

    async def over(self, claims: Claims, enqueuer: Enqueuer, seconds: float) -> bool:
        priority = self.seed.one("SELECT priority FROM procrastinate_jobs WHERE status = 'doing' ORDER BY id LIMIT 1")
        organization_id = enqueuer.owner.organization_id
        return await claims.manager.is_turn_over(claims.queue, organization_id, seconds, priority=priority)

    async def test_a_turn_lasts_while_nobody_waits(self, claims: Claims, queue: Enqueuer) -> None:
        await queue.enqueue()
        await queue.enqueue()
        await claims.next()
        assert not await self.over(claims, queue, 1000)

    async def test_it_ends_when_another_organization_waits(
        self, claims: Claims, queue: Enqueuer, others: list[Enqueuer]
    ) -> None:
        await queue.enqueue()
        await claims.next()
        await others[0].enqueue()
        assert not await self.over(claims, queue, 0.1), "half a second is always granted"
        assert await self.over(claims, queue, 0.5)

    async def test_it_ends_when_a_smaller_document_of_the_same_organization_waits(
        self, claims: Claims, queue: Enqueuer
    ) -> None:
        await queue.enqueue(file_size=2 * MEGABYTE)
        await claims.next()
        await queue.enqueue(file_size=3 * MEGABYTE)
        assert not await self.over(claims, queue, 1)
        await queue.enqueue(file_size=1000)
        assert await self.over(claims, queue, 1)

    async def test_it_does_not_end_for_an_organization_that_has_a_slot(
        self, claims: Claims, queue: Enqueuer, others: list[Enqueuer]
    ) -> None:
        await queue.enqueue()
        await others[0].enqueue()
        assert {await claims.next(), await claims.next()} != {None}
        await others[0].enqueue()
        assert not await self.over(claims, queue, 1000)

    async def test_it_does_not_end_for_an_organization_that_has_used_as_much(
        self, claims: Claims, queue: Enqueuer, others: list[Enqueuer], seed: Seed
    ) -> None:
        await queue.enqueue()
        await claims.next()
        await others[0].enqueue()
        seed.execute("INSERT INTO queue_usage VALUES ('reading', %s, 50, now())", others[0].owner.organization_id)
        assert not await self.over(claims, queue, 50)
        assert await self.over(claims, queue, 20)

    async def test_it_does_not_end_for_a_job_that_waits_for_a_running_computation(
        self, claims: Claims, queue: Enqueuer, others: list[Enqueuer], seed: Seed
    ) -> None:
        await queue.enqueue()
        await claims.next()
        await others[0].enqueue()
        seed.execute("UPDATE procrastinate_jobs SET lock = 'same content'")
        assert not await self.over(claims, queue, 1000)


async def test_a_slot_that_is_given_up_goes_to_the_other_organization_and_counts_no_attempt(
    address: DatabaseAddress, queue: Enqueuer, others: list[Enqueuer], seed: Seed
) -> None:
    long = await queue.enqueue()
    notes: list[UUID] = []
    began: list[UUID] = []
    attempts = "SELECT attempts FROM procrastinate_jobs WHERE queueing_lock = %s"

    def both_began() -> bool:
        return len(notes) == 2 and set(notes) <= set(began)

    async def read(job: RunJob) -> None:
        began.append(job.run_id)
        await wait_until(lambda: seed.one(attempts, str(job.run_id)) == 0)
        if job.run_id != long:
            # Both at the same time: one as a guest, the other in the slot that was given up.
            await wait_until(both_began)
        while not both_began():
            if await job.turn.is_over():
                raise GiveUpSlot
            await asyncio.sleep(0.01)

    async with running_worker(address, RecordingHandler(read), concurrency=1):
        await wait_until(lambda: long in began)
        notes.extend([await other.enqueue() for other in others])
        await wait_until(lambda: not queue.jobs())
    assert set(began) == {long, *notes}
    assert began.count(long) >= 2


async def test_the_time_of_a_job_counts_also_if_it_never_asks_whether_its_turn_is_over(
    address: DatabaseAddress, queue: Enqueuer, seed: Seed
) -> None:
    async def read_one_page(job: RunJob) -> None:
        await asyncio.sleep(0.6)

    await queue.enqueue()
    async with running_worker(address, RecordingHandler(read_one_page)):
        await wait_until(lambda: not queue.jobs())
    used = seed.one("SELECT recent_seconds FROM queue_usage WHERE queue = 'reading'")
    assert used >= 0.5


async def test_giving_up_a_slot_does_not_increase_the_delay_after_an_outage(
    manager: FairJobManager, claims: Claims, queue: Enqueuer, seed: Seed
) -> None:
    await queue.enqueue()
    await claims.next()
    job_id = seed.one("SELECT id FROM procrastinate_jobs")
    manager.mark_given_up(job_id)
    at = seed.one("SELECT now()")
    await manager.retry_job_by_id_async(job_id, at, queue=READING)
    assert queue.jobs() == [("reading", "todo", 0)]


async def test_usage_is_forgotten_after_a_day(manager: FairJobManager, queue: Enqueuer, seed: Seed) -> None:
    usage = "INSERT INTO queue_usage VALUES (%s, %s, 1, now() - %s)"
    for name, age in (("fast", timedelta(days=2)), ("reading", timedelta(hours=1))):
        seed.execute(usage, name, queue.owner.organization_id, age)
    await manager.forget_old_usage()
    assert seed.rows("SELECT queue FROM queue_usage") == [("reading",)]
