"""A worker survives a database that is unavailable for a while."""

import asyncio

import psycopg
import pytest
import structlog.testing

from muniment.storage.db.address import DatabaseAddress
from tests.support.cluster import Cluster
from tests.support.jobs import Enqueuer, RecordingHandler, running_worker, wait_until
from tests.support.seed import Seed

CUT_OFF = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
     WHERE datname = current_database() AND usename = 'muniment_service'
"""

CUT_OFF_WHO_WAITS = f"{CUT_OFF} AND wait_event_type = 'Lock'"


def let_in(cluster: Cluster, database: str, *, allowed: bool) -> None:
    """Allow or refuse new connections; existing ones stay open."""
    cluster.run(f"ALTER DATABASE {{}} ALLOW_CONNECTIONS {str(allowed).lower()}", database)


async def test_a_worker_whose_connections_are_cut_takes_jobs_again(
    address: DatabaseAddress, queue: Enqueuer, seed: Seed
) -> None:
    process = RecordingHandler()
    async with running_worker(address, process) as worker:
        await queue.enqueue()
        await wait_until(lambda: process.began)
        assert seed.one(CUT_OFF) > 0
        await queue.enqueue()
        await wait_until(lambda: len(process.began) == 2 and not queue.jobs())
        assert not worker.done()


async def test_the_end_of_a_job_is_noted_although_the_connection_breaks_just_then(
    address: DatabaseAddress, queue: Enqueuer, seed: Seed
) -> None:
    is_finishing = asyncio.Event()
    process = RecordingHandler(lambda _: is_finishing.wait())
    async with running_worker(address, process):
        await queue.enqueue()
        await wait_until(lambda: process.began)
        with psycopg.connect(address.conninfo) as holding:
            holding.execute("SELECT FROM procrastinate_jobs WHERE task_name = 'processing.run' FOR UPDATE")
            is_finishing.set()
            assert await wait_until(lambda: seed.one(CUT_OFF_WHO_WAITS))
        await wait_until(lambda: not queue.jobs())


@pytest.mark.every_fault  # takes half a minute
async def test_a_worker_waits_for_a_database_that_refuses_connections(
    address: DatabaseAddress, cluster: Cluster, queue: Enqueuer, seed: Seed
) -> None:
    process = RecordingHandler()
    with structlog.testing.capture_logs() as lines:
        async with running_worker(address, process) as worker:
            await queue.enqueue()
            await wait_until(lambda: process.began)
            await queue.enqueue(queue.document())
            await wait_until(lambda: len(process.began) == 2)
            let_in(cluster, address.database, allowed=False)
            assert seed.one(CUT_OFF) > 0
            # First its loops give up, then the restart does, and it is still running.
            await wait_until(lambda: told(lines, "worker.database_unavailable") >= 2, within=90)
            let_in(cluster, address.database, allowed=True)
            await wait_until(lambda: told(lines, "worker.started") == 2, within=60)
            await queue.enqueue()
            await wait_until(lambda: len(process.began) == 3 and not queue.jobs())
            assert not worker.done()


def told(lines: list[structlog.typing.EventDict], event: str) -> int:
    return sum(line["event"] == event for line in lines)
