"""A crashed worker is noticed by its missing heartbeat, and its run is taken over."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from muniment.processing.runs.repository import ClaimedRun, RunRepository, RunSuperseded
from muniment.processing.runs.tables import StepStatus
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import RunJob
from tests.support.jobs import Enqueuer, RecordingHandler, never_finish, running_worker, wait_until
from tests.support.seed import Seed

pytestmark = pytest.mark.slow

HANGING_WORKER = "tests.storage.tasks.programs.hanging_worker"


@asynccontextmanager
async def a_worker_process(address: DatabaseAddress, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", HANGING_WORKER, address.conninfo, str(folder), stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def claimed_by(process: asyncio.subprocess.Process) -> ClaimedRun:
    assert process.stdout
    said: dict[str, Any] = json.loads(await asyncio.wait_for(process.stdout.readline(), 30))
    run_id, organization_id, document_id = (UUID(said[name]) for name in ("run_id", "organization_id", "document_id"))
    return ClaimedRun(run_id, organization_id, document_id, epoch=said["epoch"], attempt=said["attempt"])


async def may_write(database: Database, run: ClaimedRun) -> bool:
    try:
        async with database.service_work(Service(run.organization_id)) as work:
            await RunRepository(work.session).record_steps(run, {"IndexText": StepStatus.STARTED})
    except RunSuperseded:
        return False
    return True


async def test_a_killed_workers_run_is_taken_over_and_its_fence_holds_no_more(
    address: DatabaseAddress, database: Database, queue: Enqueuer, tmp_path: Path
) -> None:
    second: list[ClaimedRun | None] = []

    async def claim(job: RunJob) -> None:
        async with database.service_work(Service(job.organization_id)) as work:
            claimed = await RunRepository(work.session).claim(job.run_id)
            second.append(claimed and claimed[0])

    async with a_worker_process(address, tmp_path) as killed:
        await queue.enqueue()
        first = await claimed_by(killed)
        assert first.attempt == 1
        assert await may_write(database, first)
        async with running_worker(address, claim):
            await asyncio.sleep(1.5)  # longer than the heartbeat timeout: a living worker keeps its run
            assert second == []
            killed.send_signal(signal.SIGKILL)
            await wait_until(lambda: second, within=10)
            await wait_until(lambda: not queue.jobs())
    taken_over = second[0]
    assert taken_over == replace(first, attempt=2, failures=1)
    assert await may_write(database, taken_over)
    assert not await may_write(database, first)


async def test_a_worker_that_starts_after_all_have_died_takes_over(
    address: DatabaseAddress, queue: Enqueuer, seed: Seed, tmp_path: Path
) -> None:
    async with a_worker_process(address, tmp_path) as killed:
        await queue.enqueue()
        await claimed_by(killed)
        killed.send_signal(signal.SIGKILL)
    silent = "SELECT now() - max(last_heartbeat) > interval '1 second' FROM procrastinate_workers"
    await wait_until(lambda: seed.one(silent))
    process = RecordingHandler()
    async with running_worker(address, process):
        await wait_until(lambda: process.began and not queue.jobs(), within=5)


async def test_sigterm_hands_a_running_job_back(address: DatabaseAddress, queue: Enqueuer, tmp_path: Path) -> None:
    async with a_worker_process(address, tmp_path) as stopped:
        await queue.enqueue()
        await claimed_by(stopped)
        stopped.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(stopped.wait(), 30) == 0
    assert queue.jobs() == [("reading", "todo", 1)]
    process = RecordingHandler(never_finish)
    async with running_worker(address, process):
        await wait_until(lambda: process.began)


STOPPING = "SELECT stopping_at IS NOT NULL FROM task_workers"


async def test_a_worker_killed_after_a_stop_signal_was_told_to_stop_and_one_killed_before_was_not(
    address: DatabaseAddress, queue: Enqueuer, seed: Seed, tmp_path: Path
) -> None:
    async with a_worker_process(address, tmp_path) as killed:
        await queue.enqueue()
        await claimed_by(killed)
        assert seed.rows(STOPPING) == [(False,)]
        killed.send_signal(signal.SIGTERM)
        await wait_until(lambda: seed.one(STOPPING))  # its job goes on for a while: nothing has ended yet
        assert killed.returncode is None
        killed.send_signal(signal.SIGKILL)
