"""Advisory locks held across transactions, each on its own connection and released with it."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
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
# The connection is ours alone: whatever it holds was taken in the block that ends.
_UNLOCK_ALL = text("SELECT pg_advisory_unlock_all()")


def document_lock_name(document_id: UUID) -> str:
    """Held, shared, by every run that may write outside PostgreSQL; whoever proves a document gone holds it alone."""
    return f"document {document_id}"


class AdvisoryLocks:
    """Try, never wait: a slot that waits for another's work is a slot that does none."""

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
        """Whether the lock is ours for the length of the block. Somebody who dies in it frees it.

        A shared one is had by many at once, as long as nobody has it alone.
        """
        async with self._connection() as connection:
            with translate_database_errors():
                held = await connection.scalar(_TRY_LOCK_SHARED if is_shared else _TRY_LOCK, {"name": name})
            yield bool(held)

    @asynccontextmanager
    async def try_acquire_many(self, names: Sequence[str], *, within_seconds: float) -> AsyncIterator[set[str]]:
        """Those of the names that became ours in this time, for the length of the block. For who can do without some:
        it waits while others have them."""
        async with self._connection() as connection:
            held, until = set[str](), time.monotonic() + within_seconds
            while missing := [name for name in names if name not in held]:
                with translate_database_errors():
                    held |= set((await connection.execute(_TRY_LOCK_MANY, {"names": missing})).scalars())
                if len(held) == len(set(names)) or time.monotonic() >= until:
                    break
                await asyncio.sleep(RETRY_SECONDS)
            yield held

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection]:
        with translate_database_errors():
            connection = await self._engine.connect()
        try:
            yield connection
            with translate_database_errors():
                await connection.execute(_UNLOCK_ALL)
        except BaseException:
            # The connection may be in any state: close it for good, and the locks go with it.
            await connection.invalidate()
            raise
        finally:
            await connection.close()

    async def close(self) -> None:
        await self._engine.dispose()
