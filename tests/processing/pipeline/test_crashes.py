"""Processes that die during a run: the document is not blamed until it dies with a worker of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, BinaryIO
from uuid import UUID

import pytest

from muniment.processing.pipeline import isolation
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.contract import ReadingOptions
from muniment.processing.runs.deaths import MAX_ISOLATED_DEATHS
from muniment.processing.runs.repository import RunRepository
from muniment.processing.sandbox.client import OpenedFile
from muniment.processing.sandbox.parent.job import ReaderKilled
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.tasks.port import RetryLater
from tests.processing.worker_fixture import FixedReader, WorkerFixture
from tests.support.jobs import wait_until

DEAD, ALIVE = "1 hour", "0 seconds"


def registered_worker(worker_env: WorkerFixture, *, silent_for: str, **columns: Any) -> UUID:
    worker_id = new_id()
    worker_env.seed.execute(
        "INSERT INTO task_workers (worker_id, heartbeat_at, stopping_at, is_isolating)"
        " VALUES (%s, now() - CAST(%s AS interval), %s, %s)",
        worker_id,
        silent_for,
        columns.get("stopping_at"),
        columns.get("is_isolating", False),
    )
    return worker_id


async def begin(worker_env: WorkerFixture, document_id: UUID, worker_id: UUID, *, is_isolated: bool = False) -> None:
    """A worker claims the run and does not come back."""
    async with worker_env.database.service_work(Service(worker_env.owner.organization_id)) as work:
        run_id = worker_env.job(document_id).run_id
        await RunRepository(work.session).claim(run_id, worker_id, is_isolated=is_isolated)


async def die(worker_env: WorkerFixture, document_id: UUID, *, is_isolated: bool = False) -> UUID:
    worker_id = registered_worker(worker_env, silent_for=DEAD, is_isolating=is_isolated)
    await begin(worker_env, document_id, worker_id, is_isolated=is_isolated)
    return worker_id


def deaths(worker_env: WorkerFixture) -> list[tuple[str, bool]]:
    (stored,) = worker_env.seed.rows("SELECT deaths FROM document_processing_runs")[0]
    return [(death["process"], death["is_isolated"]) for death in stored]


def error_code(worker_env: WorkerFixture) -> Any:
    return worker_env.seed.one("SELECT error->>'code' FROM document_processing_runs")


@pytest.mark.parametrize(
    "columns", [{"silent_for": ALIVE}, {"silent_for": DEAD, "stopping_at": "2026-11-18"}], ids=["alive", "stopping"]
)
async def test_a_worker_that_lives_or_was_told_to_stop_has_not_died(
    worker_env: WorkerFixture, columns: dict[str, Any]
) -> None:
    document_id = await worker_env.document()
    for _ in range(5):
        await begin(worker_env, document_id, registered_worker(worker_env, **columns))
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == "completed"
    assert deaths(worker_env) == []


async def test_a_worker_of_the_previous_version_that_is_gone_counts_for_nothing(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    for _ in range(5):
        await begin(worker_env, document_id, new_id())
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == "completed"


async def test_three_deaths_of_workers_do_not_fail_a_document(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    for _ in range(3):
        await die(worker_env, document_id)
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == "completed"
    assert deaths(worker_env) == [("worker", False)] * 3
    assert worker_env.seed.one("SELECT failures FROM document_processing_runs") == 3


async def test_a_run_that_dies_with_a_worker_of_its_own_is_quarantined(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    for _ in range(2):
        await die(worker_env, document_id)
    await die(worker_env, document_id, is_isolated=True)
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == "failed"
    assert error_code(worker_env) == "quarantined"
    assert worker_env.reader.opened == 0
    assert worker_env.seed.one("SELECT last_error FROM documents").startswith("Processing this document crashed")


async def test_workers_that_die_without_the_run_clear_it(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    for _ in range(2):
        await die(worker_env, document_id)
    registered_worker(worker_env, silent_for="30 minutes")  # processed others, and died too
    await die(worker_env, document_id, is_isolated=True)
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == "completed"


async def test_deaths_before_the_last_three_do_not_clear_a_run_for_good(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    registered_worker(worker_env, silent_for="2 hours")
    for _ in range(2):
        await die(worker_env, document_id)
    await die(worker_env, document_id, is_isolated=True)
    await worker_env.worker()(worker_env.job(document_id))
    assert error_code(worker_env) == "quarantined"


@pytest.mark.parametrize(("isolated_deaths", "status"), [(1, "completed"), (MAX_ISOLATED_DEATHS, "failed")])
async def test_two_suspects_clear_each_other_a_limited_number_of_times(
    worker_env: WorkerFixture, isolated_deaths: int, status: str
) -> None:
    document_id = await worker_env.document()
    for _ in range(2):
        await die(worker_env, document_id)
    registered_worker(worker_env, silent_for="30 minutes", is_isolating=True)  # with another suspect
    for _ in range(isolated_deaths):
        await die(worker_env, document_id, is_isolated=True)
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == status


async def test_a_reader_that_is_killed_every_time_is_quarantined_and_not_called_too_large(
    worker_env: WorkerFixture,
) -> None:
    document_id = await worker_env.document()
    worker_env.reader.error = ReaderKilled()
    worker = worker_env.worker()
    for _ in range(3):
        with pytest.raises(ReaderKilled):
            await worker(worker_env.job(document_id))
        assert worker_env.status(document_id) == "processing"
        assert worker_env.seed.one("SELECT status FROM document_processing_runs") == "queued"
    assert deaths(worker_env) == [("reader", False), ("reader", False), ("reader", True)]
    await worker(worker_env.job(document_id))
    assert (worker_env.status(document_id), error_code(worker_env)) == ("failed", "quarantined")


async def test_a_run_that_is_put_back_by_its_isolated_worker_is_tried_again(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    for _ in range(2):
        await die(worker_env, document_id)
    worker, worker_env.reader.error = worker_env.worker(), RetryLater(1)
    with pytest.raises(RetryLater):
        await worker(worker_env.job(document_id))
    assert worker_env.seed.rows("SELECT is_isolating FROM task_workers WHERE stopping_at IS NULL ORDER BY started_at")
    worker_env.reader.error = None
    await worker(worker_env.job(document_id))
    assert worker_env.status(document_id) == "completed"
    assert worker_env.seed.one("SELECT count(*) FROM task_workers WHERE is_isolating") == 0


class PausingReader(FixedReader):
    """Records what is read at the same time, and continues when the test allows it."""

    def __init__(self) -> None:
        super().__init__()
        self.reading: list[bytes] = []
        self.may_go_on = asyncio.Event()

    @asynccontextmanager
    async def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AsyncIterator[OpenedFile]:
        content = file.read()
        file.seek(0)
        self.reading.append(content)
        await self.may_go_on.wait()
        try:
            async with super().read(file, media_type, options, first_page=first_page) as opened:
                yield opened
        finally:
            self.reading.remove(content)


def start(worker_env: WorkerFixture, worker: RunProcessor, document_id: UUID) -> asyncio.Task[None]:
    return asyncio.create_task(worker(worker_env.job(document_id)))


async def test_a_suspect_waits_until_its_worker_does_nothing_else_and_others_wait_for_it(
    worker_env: WorkerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    suspect, before, after = [await worker_env.document(content) for content in (b"suspect", b"before", b"after")]
    for _ in range(2):
        await die(worker_env, suspect)
    reader = worker_env.reader = PausingReader()
    worker = worker_env.worker()
    first = start(worker_env, worker, before)
    await wait_until(lambda: reader.reading == [b"before"])
    alone = start(worker_env, worker, suspect)
    await wait_until(lambda: worker._gate._isolations)
    monkeypatch.setattr(isolation, "HOLD_SECONDS", 0)
    with pytest.raises(RetryLater):
        await worker(worker_env.job(after))
    assert reader.reading == [b"before"]
    reader.may_go_on.set()
    await first
    reader.may_go_on.clear()
    await wait_until(lambda: reader.reading == [b"suspect"])
    with pytest.raises(RetryLater):
        await worker(worker_env.job(after))
    reader.may_go_on.set()
    await alone
    await worker(worker_env.job(after))
    assert {worker_env.status(document_id) for document_id in (suspect, before, after)} == {"completed"}
