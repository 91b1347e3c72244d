"""Health checks of all components, for `/health/ready` and `muniment doctor`."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from sqlalchemy import text

from muniment.errors import StorageFull, Unavailable
from muniment.http.services import HealthCheck
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.objects.port import ObjectNotFound, ObjectStore, VersionedObjectStore
from muniment.storage.vectors.port import VectorIndex

PROBE_KEY = "health/probe"

WORKERS_AND_JOBS = """
    SELECT (SELECT count(*) FROM procrastinate_workers
             WHERE last_heartbeat > now() - make_interval(secs => :seconds)),
           (SELECT count(*) FROM procrastinate_jobs
             WHERE status = 'todo' AND queue_name NOT IN ('maintenance', 'nightly'))
"""


class NoLiveWorkers(Unavailable):
    """No worker is running. Uploads are accepted but not processed. Start one with `muniment worker`"""


def build_health_checks(
    database: Database,
    objects: ObjectStore,
    vectors: VectorIndex,
    queue: VersionedObjectStore,
    *,
    has_free_space: Callable[[], bool],
    stalled_after: timedelta,
) -> dict[str, HealthCheck]:
    return {
        "database": HealthCheck(lambda: _check_database(database), is_critical=True),
        "blobs": HealthCheck(lambda: _check_objects(objects), is_critical=True),
        "index": HealthCheck(vectors.check, is_critical=False),
        "queue": HealthCheck(lambda: _check_queue(queue), is_critical=False),
        "tasks": HealthCheck(lambda: _check_workers(database, stalled_after), is_critical=False),
        "disk": HealthCheck(lambda: _check_free_space(has_free_space), is_critical=False),
    }


async def _check_database(database: Database) -> str:
    async with database.anonymous_work() as work:
        return f"PostgreSQL {await work.session.scalar(text('SHOW server_version'))}"


async def _check_objects(objects: ObjectStore) -> str:
    with suppress(ObjectNotFound):  # the store looked and answered
        await objects.size_bytes(PROBE_KEY)
    return objects.name


async def _check_queue(queue: VersionedObjectStore) -> str:
    await queue.exists(PROBE_KEY)
    return queue.name


async def _check_workers(database: Database, stalled_after: timedelta) -> str:
    async with database.service_work(Service()) as work:
        alive, waiting = (
            await work.session.execute(text(WORKERS_AND_JOBS), {"seconds": stalled_after.total_seconds()})
        ).one()
    if not alive:
        raise NoLiveWorkers
    return f"{waiting} jobs waiting"


async def _check_free_space(has_free_space: Callable[[], bool]) -> str:
    if not has_free_space():
        raise StorageFull("Low disk space. Uploads are rejected until space is freed")
    return "enough free space"
