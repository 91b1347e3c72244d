"""Procrastinate's connections, needed by workers only. Requests use `queue.py`, which needs none of them."""

import time
from datetime import timedelta
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from procrastinate import App, PsycopgConnector
from psycopg_pool import AsyncConnectionPool

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import IDLE_SECONDS
from muniment.storage.tasks.procrastinate.job_manager import FairJobManager


def build_queue_app(service: DatabaseAddress, *, timeout: timedelta, idle_seconds: float = IDLE_SECONDS) -> App:
    """Build Procrastinate's app with its own connections, as the service login."""
    connector = PsycopgConnector(
        pool_factory=partial(_build_pool, idle_seconds),
        configure=_use_autocommit,
        conninfo=service.conninfo,
        min_size=1,
        max_size=10,
        timeout=timeout.total_seconds(),
    )
    app = App(connector=connector)
    app.job_manager = FairJobManager(app.connector)
    return app


def _build_pool(idle_seconds: float, **arguments: Any) -> AsyncConnectionPool:
    """Build a pool that pings a connection only if it was idle. Procrastinate's own pings before each statement."""
    used_at: WeakKeyDictionary[psycopg.AsyncConnection, float] = WeakKeyDictionary()

    async def ping_if_idle(connection: psycopg.AsyncConnection) -> None:
        now = time.monotonic()
        if now - used_at.get(connection, now) > idle_seconds:
            await AsyncConnectionPool.check_connection(connection)
        used_at[connection] = now

    return AsyncConnectionPool(**{**arguments, "check": ping_if_idle})


async def _use_autocommit(connection: psycopg.AsyncConnection) -> None:
    """Set autocommit: each call of the queue is one statement, and a transaction would cost two more round trips."""
    await connection.set_autocommit(True)
