"""Health checks of all components, for `/health/ready` and `muniment doctor`."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy import text

from muniment.errors import StorageFull, Unavailable
from muniment.http.health_checks import HealthCheck, HealthChecks
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.objects.port import ObjectStore
from muniment.storage.tasks.port import TaskQueue
from muniment.storage.vectors.port import VectorSearch


class NoLiveWorkers(Unavailable):
    """No worker is running. Uploads are accepted but not processed. Start one with `muniment worker`"""


def build_health_checks(
    database: Database,
    objects: ObjectStore,
    vectors: VectorSearch,
    queue: ObjectStore,
    tasks: TaskQueue,
    *,
    has_free_space: Callable[[], bool],
    stalled_after: timedelta,
) -> HealthChecks:
    """Build the checks by component. Only the critical ones decide whether the server is ready."""
    checks = {
        "database": HealthCheck(lambda: _check_database(database), is_critical=True),
        "blobs": HealthCheck(lambda: _check_store(objects), is_critical=True),
        "index": HealthCheck(vectors.check, is_critical=False),
        "queue": HealthCheck(lambda: _check_store(queue), is_critical=False),
        "tasks": HealthCheck(lambda: _check_workers(database, tasks, stalled_after), is_critical=False),
        "disk": HealthCheck(lambda: _check_free_space(has_free_space), is_critical=False),
    }
    return HealthChecks(checks)


async def _check_database(database: Database) -> str:
    async with database.anonymous_work() as work:
        return f"PostgreSQL {await work.session.scalar(text('SHOW server_version'))}"


async def _check_store(store: ObjectStore) -> str:
    await store.check_access()
    return store.name


async def _check_workers(database: Database, tasks: TaskQueue, stalled_after: timedelta) -> str:
    async with database.service_work(Service()) as work:
        health = await tasks.health(work, stalled_after=stalled_after)
    if not health.live_workers:
        raise NoLiveWorkers
    return f"{health.waiting_jobs} jobs waiting"


async def _check_free_space(has_free_space: Callable[[], bool]) -> str:
    if not await asyncio.to_thread(has_free_space):
        raise StorageFull("Low disk space. Uploads are rejected until space is freed")
    return "enough free space"
