"""Whole workers are killed, with their queue and their sandbox: documents do not pay for it."""

import asyncio
import random
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.faults.harness import FaultHarness
from tests.processing.readers.pdf_files import page_of, pdf
from tests.support.jobs import wait_until
from tests.support.live_api import RunningApi

pytestmark = [pytest.mark.slow, pytest.mark.every_fault]

PROGRAM = "tests.faults.programs.whole_worker"
SEED = 20261118
KILLING_SECONDS = 600
WORKERS = 2
WAITING = 6
"""Documents that are in the queue at the same time."""
OPEN = "SELECT count(*) FROM documents WHERE status IN ('pending', 'processing')"
LINES = tuple(f"Line {number}: what was agreed upon in the year of the flood" for number in range(30))
RUNNING = """
    SELECT count(*) FROM document_processing_runs r JOIN task_workers w USING (worker_id)
     WHERE r.status = 'in_progress' AND w.heartbeat_at > now() - interval '1 second'
"""


async def start_worker(fault_env: FaultHarness, *hangs: str) -> asyncio.subprocess.Process:
    arguments = (fault_env.address.conninfo, str(fault_env.folder.parent), *hangs)
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", PROGRAM, *arguments, stdout=asyncio.subprocess.PIPE
    )


async def stop(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    if process.returncode is None:
        process.send_signal(number)
    await process.wait()


@asynccontextmanager
async def hanging_worker(fault_env: FaultHarness) -> AsyncIterator[asyncio.subprocess.Process]:
    """One that has begun to read and does not come to an end."""
    process = await start_worker(fault_env, "hangs")
    try:
        assert process.stdout
        assert await asyncio.wait_for(process.stdout.readline(), 120) == b"reading\n"
        yield process
    finally:
        await stop(process, signal.SIGKILL)


@pytest.mark.timeout(600)
async def test_the_third_worker_that_dies_had_the_run_for_itself_and_ends_it(
    fault_env: FaultHarness, api: RunningApi
) -> None:
    document_id = await fault_env.worker_env.document(b"Whoever reads this is killed.", media_type="text/plain")
    async with hanging_worker(fault_env) as stopped:
        await stop(stopped, signal.SIGTERM)  # is no death
    isolated = "SELECT is_isolated FROM document_processing_runs"
    for is_isolated in (False, False, True):
        async with hanging_worker(fault_env):
            assert fault_env.seed.one(isolated) is is_isolated
    last = await start_worker(fault_env)
    try:
        await wait_until(lambda: fault_env.worker_env.status(document_id) == "failed")
        assert fault_env.seed.one("SELECT error->>'code' FROM document_processing_runs") == "quarantined"
        async with api.client(fault_env.worker_env.owner) as client:
            path = f"/api/v1/knowledge-bases/{fault_env.worker_env.kb_id}/documents/{document_id}/retry"
            assert (await client.post(path)).is_success
        await wait_until(lambda: fault_env.worker_env.status(document_id) == "completed")
    finally:
        await stop(last, signal.SIGTERM)


async def keep_busy(fault_env: FaultHarness, chance: random.Random) -> None:
    """Keep documents of different lengths in the queue."""
    number = 0
    while True:
        if fault_env.seed.one(OPEN) < WAITING:
            number += 1
            pages = [page_of(f"Page {page} of document {number}", *LINES) for page in range(chance.choice((1, 40)))]
            await fault_env.worker_env.document(pdf(*pages), name=f"{number}.pdf")
        await asyncio.sleep(0.1)


@pytest.mark.timeout(KILLING_SECONDS + 600)
async def test_ten_minutes_of_random_kills_fail_no_document(fault_env: FaultHarness) -> None:
    chance = random.Random(SEED)
    workers = [await start_worker(fault_env) for _ in range(WORKERS)]
    uploads = asyncio.create_task(keep_busy(fault_env, chance))
    ends_at = time.monotonic() + KILLING_SECONDS
    try:
        while time.monotonic() < ends_at:
            await wait_until(lambda: fault_env.seed.one(RUNNING))
            await asyncio.sleep(chance.uniform(0, 2))
            number = chance.randrange(WORKERS)
            await stop(workers[number], signal.SIGKILL)
            workers[number] = await start_worker(fault_env)
        uploads.cancel()
        await wait_until(lambda: fault_env.seed.one(OPEN) == 0, within=300)
    finally:
        uploads.cancel()
        for worker in workers:
            await stop(worker, signal.SIGTERM)
    assert fault_env.seed.rows("SELECT DISTINCT status FROM documents") == [("completed",)]
    died = fault_env.seed.one("SELECT count(*) FROM document_processing_runs WHERE deaths <> '[]'")
    assert died, "no worker was killed during a run"
