"""Registry of worker processes, whatever the engine: who runs, who was told to stop, who died.

An engine knows its own workers only while they run. A run that was left in the middle must be told apart by how its
worker ended, and a document must not be blamed while workers die that did not process it.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, text
from sqlalchemy.orm import Mapped, mapped_column

from muniment.errors import MunimentError
from muniment.storage.db.base import Table, created_at_column, new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.async_io import run_to_completion

RETENTION = timedelta(days=7)
ANNOUNCE_TIMEOUT_SECONDS = 2
"""Longest delay of a stop by a database that does not respond."""


class RegisteredWorker(Table):
    """A worker process. Its row outlives it, because its runs are taken over later."""

    __tablename__ = "task_workers"

    worker_id: Mapped[UUID] = mapped_column(primary_key=True)
    started_at: Mapped[datetime] = created_at_column()
    heartbeat_at: Mapped[datetime] = mapped_column(server_default=func.now())
    stopping_at: Mapped[datetime | None]
    """When it was told to stop. Whatever ends it afterwards is no death."""
    is_isolating: Mapped[bool] = mapped_column(server_default="false")
    """Whether it processes a single run that is suspected of killing workers."""


_BEAT = text("""
    INSERT INTO task_workers (worker_id, is_isolating) VALUES (:worker_id, :is_isolating)
    ON CONFLICT (worker_id) DO UPDATE SET heartbeat_at = now(), is_isolating = EXCLUDED.is_isolating
""")
_ANNOUNCE_STOP = text("UPDATE task_workers SET stopping_at = now() WHERE worker_id = :worker_id")
_DELETE_OLD = text("DELETE FROM task_workers WHERE heartbeat_at < now() - CAST(:retention AS interval)")
# A worker that died alone with a suspect tells nothing about other runs.
_HAVE_OTHERS_DIED = text("""
    SELECT EXISTS (SELECT FROM task_workers
                    WHERE stopping_at IS NULL AND (:with_suspects OR NOT is_isolating)
                      AND NOT worker_id = ANY(:holders)
                      AND heartbeat_at > :since AND heartbeat_at < now() - CAST(:silence AS interval))
""")


class WorkerRegistry:
    """The entry of this process in the registry of workers."""

    def __init__(self, database: Database, *, heartbeat: timedelta, stalled_after: timedelta) -> None:
        self.worker_id = new_id()
        self.silence = stalled_after / 2
        """Time without a heartbeat after which a worker is dead. The engine takes its jobs over only later, so that
        its death is certain by then."""
        self._database = database
        self._heartbeat = heartbeat
        self._is_isolating = False

    @asynccontextmanager
    async def registered(self) -> AsyncIterator[None]:
        """Register this process and send heartbeats until the block ends."""
        async with self._database.service_work(Service()) as work:
            await work.session.execute(_DELETE_OLD, {"retention": RETENTION})
            await self._beat(work)
        beats = asyncio.create_task(self._send_heartbeats())
        try:
            yield
        finally:
            beats.cancel()
            await self._announce_stop()

    async def run_until_stopped(self, main: Coroutine[Any, Any, None]) -> None:
        """Run `main`. A cancellation is announced first: nothing that ends this process from then on is a death."""
        task = asyncio.create_task(main)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            try:
                await run_to_completion(self._announce_stop())
            finally:
                task.cancel()
        await task

    async def set_isolating(self, work: Work[Service], *, is_isolating: bool) -> None:
        """Record whether this process has only one run, which is suspected of killing workers."""
        self._is_isolating = is_isolating
        await self._beat(work)

    async def have_others_died(
        self, work: Work[Service], holders: Sequence[UUID], since: datetime, *, with_suspects: bool
    ) -> bool:
        """Return whether a worker other than these has died since then; `with_suspects` counts those with an isolated
        run too."""
        values = {"holders": list(holders), "since": since, "silence": self.silence, "with_suspects": with_suspects}
        return bool(await work.session.scalar(_HAVE_OTHERS_DIED, values))

    async def _beat(self, work: Work[Service]) -> None:
        await work.session.execute(_BEAT, {"worker_id": self.worker_id, "is_isolating": self._is_isolating})

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat.total_seconds())
            with suppress(MunimentError):  # without a database there is no one to miss the heartbeat
                async with self._database.service_work(Service(), durable=False) as work:
                    await self._beat(work)

    async def _announce_stop(self) -> None:
        with suppress(MunimentError, TimeoutError):
            async with asyncio.timeout(ANNOUNCE_TIMEOUT_SECONDS), self._database.service_work(Service()) as work:
                await work.session.execute(_ANNOUNCE_STOP, {"worker_id": self.worker_id})
