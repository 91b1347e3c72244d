"""While Paperless imports earlier uploads, later jobs are uploaded: in bounds, and with the same guarantees."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from muniment.handover.archiver.lease import LEASE_KEY
from muniment.handover.archiver.pass_context import PassOutcome, PassReport
from muniment.handover.archiver.upload_pipeline import POLLED_UPLOADS, UploadPipeline
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver
from tests.handover.archiver.fakes import FakeClock
from tests.support.fake_paperless.faults import unauthorized

WAITS_AFTERWARDS = 20
MAX_WAITS = 500


@dataclass
class Observer:
    """Looks at the server whenever the archiver waits, and acts once after it has seen a number of uploads."""

    archiver_env: ArchiverEnvironment
    uploads: int
    act: Callable[[], None]
    seen: list[int] = field(default_factory=list)
    """Uploads without a document, at each wait."""
    waits_since: int = 0
    """Waits since the wanted number was seen: more than enough for an upload too many."""

    def observe(self) -> None:
        server = self.archiver_env.server
        self.seen.append(len(server.requests("upload")) - len(server.documents()))
        assert len(self.seen) < MAX_WAITS, "the wanted number of uploads was never open"
        self.waits_since += self.seen[-1] >= self.uploads
        if self.waits_since == WAITS_AFTERWARDS:
            self.act()


class ObservedClock(FakeClock):
    """Time stands still while the archiver waits."""

    def __init__(self, observer: Observer) -> None:
        super().__init__()
        self.observer = observer

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.observer.observe()
        await asyncio.sleep(0)


def start_worker(archiver_env: ArchiverEnvironment) -> Callable[[], None]:
    return lambda: archiver_env.server.set(worker="running")


async def put_jobs(archiver_env: ArchiverEnvironment, count: int) -> None:
    for number in range(count):
        await archiver_env.put(str(number))
    archiver_env.server.set(worker="stopped")


async def run_observed(archiver_env: ArchiverEnvironment, observer: Observer, **options: Any) -> PassReport:
    archiver_env.clock = ObservedClock(observer)
    return await archiver_env.run(**options)


async def test_later_jobs_are_uploaded_while_paperless_imports_earlier_ones(archiver_env: ArchiverEnvironment) -> None:
    await put_jobs(archiver_env, 6)
    observer = Observer(archiver_env, 6, start_worker(archiver_env))

    report = await run_observed(archiver_env, observer, concurrency=1)

    assert report.actions == {"archived": 6}
    assert len(archiver_env.server.requests("upload")) == 6
    assert await archiver_env.waiting() == []


@pytest.mark.parametrize(("concurrency", "uploads_ahead"), [(1, 3), (3, 0), (2, 2)])
async def test_the_number_of_open_uploads_is_limited(
    archiver_env_v3: ArchiverEnvironment, concurrency: int, uploads_ahead: int
) -> None:
    await put_jobs(archiver_env_v3, 9)
    limit = concurrency + uploads_ahead
    observer = Observer(archiver_env_v3, limit, start_worker(archiver_env_v3))

    report = await run_observed(archiver_env_v3, observer, concurrency=concurrency, uploads_ahead=uploads_ahead)

    assert report.actions == {"archived": 9}
    assert max(observer.seen) == limit


async def test_only_the_oldest_uploads_are_polled(archiver_env_v3: ArchiverEnvironment) -> None:
    await put_jobs(archiver_env_v3, 8)
    polled: set[str] = set()

    def look() -> None:
        requests = archiver_env_v3.server.requests("tasks.list")[1:]  # the first one checks the permission
        polled.update(request.query["task_id"][0] for request in requests)
        archiver_env_v3.server.set(worker="running")

    await run_observed(archiver_env_v3, Observer(archiver_env_v3, 8, look), concurrency=1)

    assert polled == {task.task_id for task in archiver_env_v3.server.tasks()[:POLLED_UPLOADS]}


async def test_a_job_that_resumes_holds_a_slot_again() -> None:
    pipeline, holders, seen = UploadPipeline(concurrency=2, uploads_ahead=4), 0, []

    async def work() -> None:
        nonlocal holders
        async with pipeline.slot():
            for _ in range(5):
                holders += 1
                seen.append(holders)
                await asyncio.sleep(0)
                holders -= 1
                async with pipeline.turn(), pipeline.paused():
                    await asyncio.sleep(0)

    await asyncio.gather(*(work() for _ in range(pipeline.max_jobs)))

    assert max(seen) == 2


async def test_a_pass_that_is_stopped_ends_the_wait_for_open_uploads(archiver_env_v3: ArchiverEnvironment) -> None:
    await put_jobs(archiver_env_v3, 3)
    archiver_env_v3.server.fault("upload", unauthorized(), times=None, skip=2)

    report = await run_observed(archiver_env_v3, Observer(archiver_env_v3, 3, lambda: None), concurrency=2)

    assert report.outcome is PassOutcome.NEEDS_OPERATOR
    assert report.actions == {"left": 2}


async def test_jobs_of_one_content_wait_for_each_other_while_others_are_uploaded(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    types = ("contract", "care-plan", "onboarding")
    for document_type in types:
        await archiver_env_v3.put("0", document_type=document_type)
    await put_jobs(archiver_env_v3, 4)
    observer = Observer(archiver_env_v3, 4, start_worker(archiver_env_v3))

    report = await run_observed(archiver_env_v3, observer)

    assert report.actions == {"archived": 7}
    assert max(observer.seen) == 4
    assert len(archiver_env_v3.server.requests("upload")) == len(archiver_env_v3.documents()) == 4
    [shared] = [document for document in archiver_env_v3.documents() if "doc-type:contract" in document.tags]
    assert {f"doc-type:{document_type}" for document_type in (*types, "invoice")} <= set(shared.tags)


async def test_a_pass_that_leaves_all_uploads_open_costs_no_attempt_and_no_second_upload(
    archiver_env: ArchiverEnvironment,
) -> None:
    await put_jobs(archiver_env, 20)

    first = await archiver_env.run(uploads_ahead=5)
    archiver_env.server.set(worker="running")
    second = await archiver_env.run(uploads_ahead=5)

    assert first.actions == {"left": 20}
    assert second.actions == {"archived": 20}
    assert len(archiver_env.server.requests("upload")) == 20
    assert set(archiver_env.office.rows("retry_count")) == {0}


async def test_a_stop_signal_ends_the_wait_and_the_next_pass_uploads_nothing_again(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    await put_jobs(archiver_env_v3, 8)
    stop = asyncio.Event()
    archiver_env_v3.clock = ObservedClock(Observer(archiver_env_v3, 8, stop.set))
    async with open_archiver(archiver_env_v3.archiver()) as archiver:
        working = asyncio.create_task(archiver.run())
        await stop.wait()
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working

    archiver_env_v3.server.set(worker="running")
    report = await archiver_env_v3.run()  # the lease was released

    assert report.actions == {"archived": 8}
    assert len(archiver_env_v3.server.requests("upload")) == len(archiver_env_v3.documents()) == 8


async def test_a_lease_lost_while_uploads_wait_ends_the_pass_without_touching_their_jobs(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    await put_jobs(archiver_env_v3, 8)
    waiting = await archiver_env_v3.waiting()

    def take_over() -> None:
        lease = archiver_env_v3.office.queue._root / LEASE_KEY
        lease.write_bytes(b'{"holder": "another", "expiresAt": "2000-01-01T00:00:00+00:00"}')
        archiver_env_v3.clock.advance(minutes=5)
        archiver_env_v3.server.set(worker="running")

    report = await run_observed(archiver_env_v3, Observer(archiver_env_v3, 8, take_over))

    assert report.outcome is PassOutcome.LEASE_HELD
    assert await archiver_env_v3.waiting() == waiting
    assert (await archiver_env_v3.run()).actions == {"archived": 8}
    assert len(archiver_env_v3.server.requests("upload")) == len(archiver_env_v3.documents()) == 8
