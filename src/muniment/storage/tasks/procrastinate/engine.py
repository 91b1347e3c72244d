"""Procrastinate as the engine of background tasks. Light to import: the supervisor checks its tables at every start."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg

from muniment.storage.tasks.procrastinate.schema import has_current_schema, upgrade_schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from muniment.storage.db.address import DatabaseAddress
    from muniment.storage.tasks.port import JobHandlers, PeriodicTask, TaskWorker


class ProcrastinateEngine:
    """Implements `TaskEngine` with Procrastinate."""

    name = "procrastinate"

    def install_schema(self, connection: "Connection") -> None:
        upgrade_schema(connection)

    def has_current_schema(self, connection: psycopg.Connection) -> bool:
        return has_current_schema(connection)

    def build_worker(
        self,
        service: "DatabaseAddress",
        *,
        handlers: "JobHandlers | None",
        periodic: "Sequence[PeriodicTask]",
        concurrency: int,
        heartbeat: timedelta,
        stalled_after: timedelta,
    ) -> "TaskWorker":
        from muniment.storage.tasks.procrastinate.worker import ProcrastinateWorker  # loads Procrastinate

        return ProcrastinateWorker(
            service,
            handlers=handlers,
            periodic=periodic,
            concurrency=concurrency,
            heartbeat=heartbeat,
            stalled_after=stalled_after,
        )
