"""`Work`: one transaction on behalf of one caller, opened at the edges only. Also the connection pools, and the
organizations that a sweep must visit.
"""

import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Generic, TypeVar
from uuid import UUID

import psycopg
import structlog
from sqlalchemy import Connection, Engine, event, func, select, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, DisconnectionError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, SessionTransaction
from sqlalchemy.orm.exc import StaleDataError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from muniment.errors import Conflict, Forbidden, StorageFull, Unavailable
from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN, DatabaseAddress
from muniment.storage.db.principal import Anonymous, Caller, Principal, Service
from muniment.storage.db.schema_version import (
    DatabaseUnreachable,
    is_newer,
    newest_version,
    require_accepted_schema,
)

log = structlog.get_logger()

IDLE_SECONDS = 1.0
RETURNED_AT = "muniment.returned_at"

CallerT = TypeVar("CallerT", bound=Caller)


def ping_idle_connections(engine: Engine, idle_seconds: float) -> None:
    """Ping a connection before it is used again, if it was idle for so long.

    SQLAlchemy's own `pool_pre_ping` pings every time, which costs a busy server a third of each short transaction.
    """

    @event.listens_for(engine, "checkin")
    def record_return(_: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        entry.info[RETURNED_AT] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ping(connection: DBAPIConnection, entry: ConnectionPoolEntry, _: PoolProxiedConnection) -> None:
        if time.monotonic() - entry.info.get(RETURNED_AT, time.monotonic()) < idle_seconds:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError from error  # the pool discards it and hands out another one


class DatabaseUnavailable(Unavailable):
    """The database is not responding. Try again shortly"""


class PrincipalSession(Session):
    """A session that requires a principal: without one it fails instead of leaking rows."""


_MULTIPLE_STATEMENTS = {"no_parameters": True}
"""The driver sends several statements in one message only if they have no parameters."""


@event.listens_for(PrincipalSession, "after_begin")
def begin_as_principal(session: Session, transaction: SessionTransaction, connection: Connection) -> None:
    """Begin the transaction and set its principal in one message, which saves a round trip per transaction."""
    caller: Caller = session.info["caller"]
    if transaction.nested:  # a savepoint: the principal stays the same
        return
    connection.exec_driver_sql(
        _begin_statement(caller.database_settings, durable=session.info["durable"]),
        execution_options=_MULTIPLE_STATEMENTS,
    )


def _begin_statement(settings: Mapping[str, str], *, durable: bool) -> str:
    # `true` = local to this transaction, so that the principal cannot leak to the next borrower of the connection.
    values = {**settings, **({} if durable else {"synchronous_commit": "off"})}
    quoted = ("'{}'".format(value.replace("'", "''")) for value in values.values())
    sets = (f"set_config('{name}', {value}, true)" for name, value in zip(values, quoted, strict=True))
    return f"BEGIN; SELECT {', '.join(sets)}"


@dataclass(frozen=True)
class Work(Generic[CallerT]):
    """One transaction on behalf of one caller. Services and repositories may `flush()`; they never commit."""

    session: AsyncSession
    caller: CallerT


class Database:
    """Connections of the two logins, each with its own pool."""

    def __init__(
        self,
        address: DatabaseAddress,
        *,
        app_password: str,
        service_password: str,
        pool_size: int,
        pool_timeout_seconds: float = 10,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        build = partial(
            _build_engine, pool_size=pool_size, pool_timeout_seconds=pool_timeout_seconds, idle_seconds=idle_seconds
        )
        self.app_engine = build(address.as_login(APP_LOGIN, app_password))
        self.service_engine = build(address.as_login(SERVICE_LOGIN, service_password))
        self._app = async_sessionmaker(self.app_engine, sync_session_class=PrincipalSession, expire_on_commit=False)
        self._service = async_sessionmaker(
            self.service_engine, sync_session_class=PrincipalSession, expire_on_commit=False
        )

    @asynccontextmanager
    async def work(self, caller: Principal) -> AsyncIterator[Work[Principal]]:
        """Open a transaction on behalf of a signed-in user. It is committed at the end and rolled back on any error."""
        async with _transaction(self._app, caller) as session:
            yield Work(session, caller)

    @asynccontextmanager
    async def anonymous_work(self, address: str | None = None) -> AsyncIterator[Work[Anonymous]]:
        """Open a transaction before sign-in: no row is visible, and only the lookup functions can be called."""
        caller = Anonymous(address=address)
        async with _transaction(self._app, caller) as session:
            yield Work(session, caller)

    @asynccontextmanager
    async def lookup_connection(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection for one call of a lookup function before sign-in: `anonymous_work` without a transaction.

        Every request begins with such a call, and a transaction would cost three more round trips.
        """
        with translate_database_errors():
            async with self.app_engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def service_work(self, caller: Service, *, durable: bool = True) -> AsyncIterator[Work[Service]]:
        """Open a transaction for a worker or sweep, within the organization that the caller names.

        A transaction that is not `durable` does not wait for the disk: a power failure may undo it, unless a durable
        one was committed after it.
        """
        async with _transaction(self._service, caller, durable=durable) as session:
            yield Work(session, caller)

    async def require_current_schema(self) -> None:
        """Raise `SchemaOutOfDate` if the tables are older than this version, or `SchemaTooNew` if they are newer and
        not compatible with it."""
        try:
            found = await self._current_version()
            accepts_us = is_newer(found) and await self._accepts_this_version()
        except OperationalError as error:
            raise DatabaseUnreachable(f"Cannot connect to the database: {error.orig}") from None
        require_accepted_schema(found, accepts_this_version=accepts_us)

    async def _current_version(self) -> str | None:
        async with self.app_engine.connect() as connection:
            # There is no table yet, or, after a downgrade to the beginning, none that the logins can read.
            is_readable = "SELECT has_table_privilege(to_regclass('public.alembic_version'), 'SELECT')"
            if not await connection.scalar(text(is_readable)):
                return None
            found: str | None = await connection.scalar(text("SELECT version_num FROM alembic_version"))
            return found

    async def _accepts_this_version(self) -> bool:
        async with self.app_engine.connect() as connection:
            if not await connection.scalar(text("SELECT to_regprocedure('public.schema_accepts_version(text)')")):
                return False
            accepts = text("SELECT schema_accepts_version(:version)")
            return bool(await connection.scalar(accepts, {"version": newest_version()}))

    async def find_content_key_id(self) -> str | None:
        """Return the id of the secret under which the newest document was stored, or `None` if there is no document."""
        async with self.lookup_connection() as connection:
            found: str | None = await connection.scalar(text("SELECT known_content_key_id()"))
            return found

    async def close(self) -> None:
        """Close all connections."""
        await self.app_engine.dispose()
        await self.service_engine.dispose()


def _build_engine(
    address: DatabaseAddress, *, pool_size: int, pool_timeout_seconds: float, idle_seconds: float
) -> AsyncEngine:
    engine = create_async_engine(
        address.sqlalchemy_url,
        pool_size=pool_size,
        max_overflow=0,
        # Reuse the few connections that have already prepared our statements.
        pool_use_lifo=True,
        # `begin_as_principal` begins transactions, not the driver; outside of a `Work` there is none.
        isolation_level="AUTOCOMMIT",
        pool_timeout=pool_timeout_seconds,
        hide_parameters=True,  # names and hashes must not reach a log through an error message
        connect_args={"connect_timeout": 5, "application_name": "muniment", "options": "-c timezone=UTC"},
    )
    ping_idle_connections(engine.sync_engine, idle_seconds)
    return engine


@asynccontextmanager
async def _transaction(
    sessions: async_sessionmaker[AsyncSession], caller: Caller, *, durable: bool = True
) -> AsyncIterator[AsyncSession]:
    with translate_database_errors():
        async with sessions(info={"caller": caller, "durable": durable}) as session, session.begin():
            yield session


@contextmanager
def translate_database_errors() -> Iterator[None]:
    """Translate errors of SQLAlchemy and the driver into ours."""
    try:
        yield
    except PoolTimeout:
        raise DatabaseUnavailable from None
    except StaleDataError:
        raise Conflict("Someone else changed this at the same time. Reload and try again") from None
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.errors.DiskFull):
            raise StorageFull from None
        if isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            # A role was removed between the check and the write, or a grant is missing, which the log shows.
            log.error("database.permission_denied", reason=str(error.orig).splitlines()[0])
            raise Forbidden from None
        if error.connection_invalidated or _is_connection_error(error):
            raise DatabaseUnavailable from error
        raise


def _is_connection_error(error: DBAPIError) -> bool:
    if not isinstance(error.orig, psycopg.OperationalError):
        return False
    state = error.orig.sqlstate
    # No state: the server was not reached, or not in time. 08: the connection broke. 57: the server is starting or
    # shutting down, or a statement timeout of the operator has ended the statement; 55P03: a lock timeout has.
    # 53300: there is no free connection. 40: the transaction lost a conflict or deadlock and must be repeated.
    return state is None or state.startswith(("08", "57", "40")) or state in ("53300", "55P03")


class PendingWork(StrEnum):
    """Kinds of work that a sweep finds in organizations. Each value is a database function that sees all of them."""

    DELETIONS = "organizations_with_deletions"
    HANDOVERS = "organizations_with_hand_overs"
    INTENTS = "organizations_with_intents"
    RECEIPTS = "organizations_with_receipts"
    UNSEALED_EVENTS = "chains_with_events"
    VECTORS_IN_CHUNKS = "organizations_with_vectors_in_chunks"


async def list_organizations(database: Database) -> Sequence[UUID]:
    """Return all organizations, for sweeps that then work in one at a time."""
    async with database.service_work(Service()) as work:
        return (await work.session.scalars(select(func.list_organizations()))).all()


async def list_organizations_with(database: Database, pending: PendingWork) -> Sequence[UUID]:
    """Return the organizations with pending work of this kind, for sweeps that run every few seconds."""
    async with database.service_work(Service()) as work:
        return sorted(await work.session.scalars(select(getattr(func, pending)())))
