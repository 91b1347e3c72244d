"""Locks that are held across transactions, each on a connection of its own: they die with it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import translated


class AdvisoryLocks:
    """Try, never wait: a slot that waits for another's work is a slot that does none."""

    def __init__(self, service: DatabaseAddress, *, at_once: int) -> None:
        self._engine: AsyncEngine = create_async_engine(
            service.sqlalchemy_url,
            isolation_level="AUTOCOMMIT",
            pool_size=at_once,
            hide_parameters=True,
            connect_args={"connect_timeout": 5, "application_name": "muniment locks"},
        )

    @asynccontextmanager
    async def attempt(self, name: str) -> AsyncIterator[bool]:
        """Whether the lock is ours for the length of the block. Somebody who dies in it frees it."""
        with translated():
            connection = await self._engine.connect()
        try:
            with translated():
                held = bool(
                    await connection.scalar(
                        text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))"), {"name": name}
                    )
                )
            yield held
            if held:
                with translated():
                    await connection.execute(
                        text("SELECT pg_advisory_unlock(hashtextextended(:name, 0))"), {"name": name}
                    )
        except BaseException:
            # The connection may be in any state: close it for good, and the lock goes with it.
            await connection.invalidate()
            raise
        finally:
            await connection.close()

    async def close(self) -> None:
        await self._engine.dispose()
