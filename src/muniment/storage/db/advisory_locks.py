"""Advisory locks held across transactions, each on its own connection and released with it."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import translate_database_errors

RETRY_SECONDS = 0.05
_TRY_LOCK = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
_TRY_LOCK_SHARED = text("SELECT pg_try_advisory_lock_shared(hashtextextended(:name, 0))")
_TRY_LOCK_MANY = text("""
    SELECT name FROM unnest(CAST(:names AS text[])) AS name WHERE pg_try_advisory_lock(hashtextextended(name, 0))
""")
# Nobody else uses the connection: all its locks were acquired in the block that ends.
_UNLOCK_ALL = text("SELECT pg_advisory_unlock_all()")


def document_lock_name(document_id: UUID) -> str:
    """Return the name of a document's lock. Every run that may write outside PostgreSQL holds it shared; proving that a
    document is gone takes it exclusively."""
    return f"document {document_id}"


@dataclass(frozen=True)
class LockGroup:
    """Locks held on one connection, which are released together."""

    _connection: AsyncConnection

    async def try_add(self, name: str, *, is_shared: bool = False) -> bool:
        """Try to acquire another lock for as long as the others. One that the group has already is acquired again."""
        with translate_database_errors():
            statement = _TRY_LOCK_SHARED if is_shared else _TRY_LOCK
            return bool(await self._connection.scalar(statement, {"name": name}))


class AdvisoryLocks:
    """Session locks in PostgreSQL. They are tried, never waited for: a waiting slot of a worker does no work."""

    def __init__(self, service: DatabaseAddress, *, max_connections: int) -> None:
        self._engine: AsyncEngine = create_async_engine(
            service.sqlalchemy_url,
            isolation_level="AUTOCOMMIT",
            pool_size=max_connections,
            hide_parameters=True,
            connect_args={"connect_timeout": 5, "application_name": "muniment locks"},
        )

    @asynccontextmanager
    async def try_acquire(self, name: str, *, is_shared: bool = False) -> AsyncIterator[bool]:
        """Try to acquire the lock for the length of the block, and yield whether it succeeded. The end of the process
        releases it.

        Any number of callers can hold a shared lock at the same time, as long as nobody holds it exclusively.
        """
        async with self.open_group() as group:
            yield await group.try_add(name, is_shared=is_shared)

    @asynccontextmanager
    async def open_group(self) -> AsyncIterator[LockGroup]:
        """Open a group of locks, which are released at the end of the block."""
        async with self._connection() as connection:
            yield LockGroup(connection)

    @asynccontextmanager
    async def try_acquire_many(self, names: Sequence[str], *, within_seconds: float) -> AsyncIterator[set[str]]:
        """Acquire as many of the locks as possible within the time limit, for the length of the block, and yield their
        names."""
        async with self._connection() as connection:
            acquired, deadline = set[str](), time.monotonic() + within_seconds
            while missing := [name for name in names if name not in acquired]:
                with translate_database_errors():
                    acquired |= set((await connection.execute(_TRY_LOCK_MANY, {"names": missing})).scalars())
                if len(acquired) == len(set(names)) or time.monotonic() >= deadline:
                    break
                await asyncio.sleep(RETRY_SECONDS)
            yield acquired

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection]:
        with translate_database_errors():
            connection = await self._engine.connect()
        try:
            yield connection
            with translate_database_errors():
                await connection.execute(_UNLOCK_ALL)
        except BaseException:
            # The connection may be in any state: discard it, which releases its locks.
            await connection.invalidate()
            raise
        finally:
            await connection.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()
