"""How a worker handles its jobs."""

import asyncio
import hashlib
import time
from datetime import timedelta

from muniment.errors import Unavailable
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.tasks.port import READING, MoveToQueue, RetryLater, RunJob
from tests.support.jobs import Enqueuer, RecordingHandler, never_finish, raising, running_worker, wait_until
from tests.support.seed import Seed


async def test_a_job_is_carried_out_and_leaves_no_row(address: DatabaseAddress, queue: Enqueuer) -> None:
    process = RecordingHandler()
    async with running_worker(address, process):
        run_id = await queue.enqueue()
        await wait_until(lambda: process.began and not queue.jobs())
    assert process.began == [RunJob(run_id, queue.owner.organization_id, "reading")]


async def test_a_revoked_running_job_is_stopped_within_two_seconds(address: DatabaseAddress, queue: Enqueuer) -> None:
    process = RecordingHandler(never_finish)
    async with running_worker(address, process):
        run_id = await queue.enqueue()
        await wait_until(lambda: process.began)
        assert await queue.revoke(run_id)
        await wait_until(lambda: process.stopped, within=2)
        await wait_until(lambda: queue.jobs() == [("reading", "aborted", 1)])
    assert len(process.began) == 1
    assert not await queue.revoke(run_id)


async def test_move_on_puts_the_job_into_the_other_queue(address: DatabaseAddress, queue: Enqueuer, seed: Seed) -> None:
    def move_on(job: RunJob) -> None:
        if job.queue != READING:
            raise MoveToQueue(READING, content_key="k1:abc")
        locks.append(seed.one("SELECT lock FROM procrastinate_jobs"))

    locks: list[str] = []

    process = RecordingHandler(move_on)
    async with running_worker(address, process):
        await queue.enqueue(queue.known_document())
        await wait_until(lambda: len(process.began) == 2 and not queue.jobs(), within=5)
    assert process.queues == ["fast", "reading"]
    assert locks == [hashlib.sha256(b"k1:abc").hexdigest()]


async def test_put_back_comes_again_after_its_delay(address: DatabaseAddress, queue: Enqueuer) -> None:
    times: list[float] = []

    def put_back_once(_: RunJob) -> None:
        times.append(time.monotonic())
        if len(times) == 1:
            raise RetryLater(2)

    async with running_worker(address, RecordingHandler(put_back_once)):
        await queue.enqueue()
        await wait_until(lambda: len(times) == 2 and not queue.jobs())
    assert times[1] - times[0] > 1.9


async def test_a_job_that_was_put_back_can_be_revoked(address: DatabaseAddress, queue: Enqueuer) -> None:
    process = RecordingHandler(raising(RetryLater(600)))
    async with running_worker(address, process):
        run_id = await queue.enqueue()
        await wait_until(lambda: queue.jobs() == [("reading", "todo", 1)])
        assert await queue.revoke(run_id)
    assert queue.jobs() == []


async def test_an_error_ends_the_job_and_the_worker_lives_on(address: DatabaseAddress, queue: Enqueuer) -> None:
    def stumble(_: RunJob) -> None:
        if len(process.began) == 1:
            raise ZeroDivisionError

    process = RecordingHandler(stumble)
    async with running_worker(address, process) as worker:
        await queue.enqueue()
        await queue.enqueue()
        await wait_until(lambda: len(process.began) == 2 and queue.jobs() == [("reading", "failed", 1)])
        assert not worker.done()


async def test_what_is_unavailable_is_tried_again(address: DatabaseAddress, queue: Enqueuer, seed: Seed) -> None:
    process = RecordingHandler(raising(Unavailable()))
    async with running_worker(address, process):
        await queue.enqueue()
        await wait_until(lambda: queue.jobs() == [("reading", "todo", 1)])
    wait = seed.one("SELECT extract(epoch FROM scheduled_at - now()) FROM procrastinate_jobs")
    assert 0 < wait <= 2


async def test_the_fast_queue_is_not_held_up_by_a_full_reading_queue(address: DatabaseAddress, queue: Enqueuer) -> None:
    slow = [await queue.enqueue() for _ in range(3)]

    async def read(job: RunJob) -> None:
        if job.run_id in slow:
            await asyncio.Event().wait()

    process = RecordingHandler(read)
    async with running_worker(address, process, concurrency=2):
        await wait_until(lambda: process.queues.count(READING) == 2)
        known = await queue.enqueue(queue.known_document())
        await wait_until(lambda: any(job.run_id == known for job in process.began), within=2)
        assert process.queues.count(READING) == 2, "more at a time than there are slots"


async def test_a_worker_that_stops_finishes_what_is_almost_done(address: DatabaseAddress, queue: Enqueuer) -> None:
    process = RecordingHandler(lambda _: asyncio.sleep(0.5))
    async with running_worker(address, process, grace=timedelta(seconds=10)):
        await queue.enqueue()
        await wait_until(lambda: process.began)
    assert (queue.jobs(), process.stopped) == ([], [])


async def test_a_worker_that_stops_hands_back_what_would_take_too_long(
    address: DatabaseAddress, queue: Enqueuer
) -> None:
    process = RecordingHandler(never_finish)
    async with running_worker(address, process):
        await queue.enqueue()
        await wait_until(lambda: process.began)
    assert len(process.stopped) == 1
    assert queue.jobs() == [("reading", "todo", 1)]


async def test_without_a_reader_documents_wait(address: DatabaseAddress, queue: Enqueuer, seed: Seed) -> None:
    await queue.enqueue()
    async with running_worker(address, None):  # its two queues are those of the sweeps
        await wait_until(lambda: seed.one("SELECT count(*) FROM procrastinate_workers") == 2)
    assert queue.jobs() == [("reading", "todo", 0)]
