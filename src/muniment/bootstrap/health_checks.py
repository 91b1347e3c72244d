"""Health checks of all components, for `/health/ready` and `muniment doctor`."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from sqlalchemy import text

from muniment.errors import StorageFull, Unavailable
from muniment.http.services import Check
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.objects.port import BlobNotFound, Blobs, QueueStore
from muniment.storage.vectors.port import VectorIndex

PROBE = "health/probe"

WORKERS_AND_JOBS = """
    SELECT (SELECT count(*) FROM procrastinate_workers
             WHERE last_heartbeat > now() - make_interval(secs => :seconds)),
           (SELECT count(*) FROM procrastinate_jobs
             WHERE status = 'todo' AND queue_name NOT IN ('maintenance', 'nightly'))
"""


class WorkersSilent(Unavailable):
    """No worker is running. Uploads are accepted but not processed. Start one with `muniment worker`"""


def checks(
    database: Database,
    blobs: Blobs,
    index: VectorIndex,
    queue: QueueStore,
    *,
    has_room: Callable[[], bool],
    stalled_after: timedelta,
) -> dict[str, Check]:
    return {
        "database": Check(lambda: _database_answers(database), is_needed=True),
        "blobs": Check(lambda: _blobs_answer(blobs), is_needed=True),
        "index": Check(index.check, is_needed=False),
        "queue": Check(lambda: _queue_answers(queue), is_needed=False),
        "tasks": Check(lambda: _workers_live(database, stalled_after), is_needed=False),
        "disk": Check(lambda: _disk_has_room(has_room), is_needed=False),
    }


async def _database_answers(database: Database) -> str:
    async with database.unsigned_work() as work:
        return f"PostgreSQL {await work.session.scalar(text('SHOW server_version'))}"


async def _blobs_answer(blobs: Blobs) -> str:
    with suppress(BlobNotFound):  # the store looked and answered
        await blobs.size_bytes(PROBE)
    return blobs.name


async def _queue_answers(queue: QueueStore) -> str:
    await queue.exists(PROBE)
    return queue.name


async def _workers_live(database: Database, stalled_after: timedelta) -> str:
    async with database.service_work(Service()) as work:
        alive, waiting = (
            await work.session.execute(text(WORKERS_AND_JOBS), {"seconds": stalled_after.total_seconds()})
        ).one()
    if not alive:
        raise WorkersSilent
    return f"{waiting} jobs waiting"


async def _disk_has_room(has_room: Callable[[], bool]) -> str:
    if not has_room():
        raise StorageFull("Low disk space. Uploads are rejected until space is freed")
    return "enough free space"
