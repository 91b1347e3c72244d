"""Upgrade the database to this version: roles, extensions, tables.

The only code that logs in with DATABASE_URL itself.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, overload

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from psycopg.errors import FeatureNotSupported, InsufficientPrivilege, UndefinedFile
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from muniment.errors import MunimentError
from muniment.storage.db import roles
from muniment.storage.db.address import OWNER_ROLE, DatabaseAddress, LoginPasswords
from muniment.storage.db.schema_version import (
    MIGRATIONS,
    DatabaseUnreachable,
    accepts_this_version,
    is_newer,
    require_accepted_schema,
)
from muniment.storage.tasks.port import TaskEngine
from muniment.storage.vectors.pgvector import indexes

MIN_PGVECTOR_VERSION = (0, 8)

Result = TypeVar("Result")


class PgvectorMissing(MunimentError):
    """PostgreSQL has no pgvector 0.8 or newer. Install it (Debian: postgresql-<version>-pgvector)"""


class TrigramsMissing(MunimentError):
    """PostgreSQL has no pg_trgm. Install its contrib modules (Debian: postgresql-contrib)"""


def ensure_extensions(connection: Connection) -> None:
    """Create the extensions pgvector and pg_trgm in this database, or raise an error with advice."""
    _ensure_pgvector(connection)
    try:
        with connection.begin_nested():
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except DBAPIError as error:
        if isinstance(error.orig, InsufficientPrivilege):
            raise TrigramsMissing("Ask an administrator to run in this database: CREATE EXTENSION pg_trgm;") from None
        if isinstance(error.orig, FeatureNotSupported | UndefinedFile):
            raise TrigramsMissing from None
        raise


def _ensure_pgvector(connection: Connection) -> None:
    try:
        with connection.begin_nested():
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except DBAPIError as error:
        if isinstance(error.orig, InsufficientPrivilege):
            raise PgvectorMissing("Ask an administrator to run in this database: CREATE EXTENSION vector;") from None
        if isinstance(error.orig, FeatureNotSupported | UndefinedFile):
            raise PgvectorMissing from None
        raise
    found = connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'"))
    if tuple(int(part) for part in str(found).split(".")[:2]) < MIN_PGVECTOR_VERSION:
        raise PgvectorMissing(
            f"pgvector is {found}, but 0.8 is required. Install it, then run ALTER EXTENSION vector UPDATE;"
        )


MIGRATION_LOCK = 6_110_426_853_002  # arbitrary, but not used by anything else in this database


@overload
def migrate(address: DatabaseAddress, passwords: LoginPasswords, tasks: TaskEngine) -> None: ...


@overload
def migrate(
    address: DatabaseAddress,
    passwords: LoginPasswords,
    tasks: TaskEngine,
    after_upgrade: Callable[[Connection], Result],
) -> Result: ...


def migrate(
    address: DatabaseAddress,
    passwords: LoginPasswords,
    tasks: TaskEngine,
    after_upgrade: Callable[[Connection], Result] | None = None,
) -> Result | None:
    """Create roles, the tables of the task engine and ours, then call `after_upgrade` as the owner and return its
    result. Only one of several concurrent calls works at a time; the others wait."""
    with _connect(address) as connection:
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK})
        connection.commit()
        roles.ensure_roles(connection, passwords)
        ensure_extensions(connection)
        connection.commit()
        _become_owner(connection)
        tasks.install_schema(connection)
        connection.commit()
        _upgrade_tables(connection)
        indexes.ensure_model_indexes(connection)
        result = after_upgrade(connection) if after_upgrade else None
        connection.commit()
        return result


def run_as_owner(address: DatabaseAddress, action: Callable[[Connection], Result]) -> Result:
    """Call `action` as the owner of the tables and return its result. Nothing is migrated: raise `SchemaOutOfDate` if
    the database is older than this version."""
    with _connect(address) as connection:
        _require_accepted_schema(connection, MigrationContext.configure(connection).get_current_revision())
        _become_owner(connection)
        result = action(connection)
        connection.commit()
        return result


@contextmanager
def _connect(address: DatabaseAddress) -> Iterator[Connection]:
    engine = create_engine(address.sqlalchemy_url, poolclass=NullPool, hide_parameters=True)
    try:
        with engine.connect() as connection:
            yield connection
    except OperationalError as error:
        raise DatabaseUnreachable(f"Cannot connect to the database at {address.host}: {error.orig}") from None
    finally:
        engine.dispose()


def _require_accepted_schema(connection: Connection, found: str | None) -> None:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    require_accepted_schema(found, accepts_this_version=is_newer(found) and accepts_this_version(driver))


def _upgrade_tables(connection: Connection) -> None:
    """Run the migrations that are missing. Tables of a compatible newer version stay as they are."""
    found = MigrationContext.configure(connection).get_current_revision()
    if is_newer(found):
        _require_accepted_schema(connection, found)
        return
    connection.commit()  # inside a transaction of ours, Alembic would not use one for each migration
    command.upgrade(_alembic_config(connection), "head")


def downgrade(address: DatabaseAddress, to: str) -> None:
    """Downgrade the tables to an older version. For tests, and for operators who know why."""
    engine = create_engine(address.sqlalchemy_url, poolclass=NullPool, hide_parameters=True)
    with engine.connect() as connection:
        _become_owner(connection)
        command.downgrade(_alembic_config(connection), to)
        connection.commit()
    engine.dispose()


def _become_owner(connection: Connection) -> None:
    connection.execute(text(f"SET ROLE {OWNER_ROLE}"))
    # PUBLIC may execute every function by default; we grant each one by name.
    connection.execute(text("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC"))
    connection.execute(text("SET lock_timeout = '10s'"))
    connection.commit()


def _alembic_config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
