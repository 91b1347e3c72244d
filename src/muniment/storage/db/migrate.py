"""Bring the database up to this version. The only place where DATABASE_URL itself logs in."""

from collections.abc import Callable

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from muniment.storage.db import extensions, roles
from muniment.storage.db.address import OWNER_ROLE, DatabaseAddress, LoginPasswords
from muniment.storage.db.version import MIGRATIONS, DatabaseUnreachable
from muniment.storage.tasks import schema as queue_schema
from muniment.storage.vectors import model_indexes

LOCK = 6_110_426_853_002  # any number that nobody else on this database uses


def migrate(
    address: DatabaseAddress, passwords: LoginPasswords, then: Callable[[Connection], None] | None = None
) -> None:
    """Roles, the queue's tables, ours; then `then`, as the owner. Of several at once, one works and the others wait."""
    engine = create_engine(address.sqlalchemy_url, poolclass=NullPool, hide_parameters=True)
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
            connection.commit()
            roles.ensure(connection, passwords)
            extensions.ensure(connection)
            connection.commit()
            _become_owner(connection)
            queue_schema.bring_up(connection)
            connection.commit()
            command.upgrade(_alembic(connection), "head")
            model_indexes.ensure(connection)
            if then:
                then(connection)
            connection.commit()
    except OperationalError as error:
        raise DatabaseUnreachable(f"The database at {address.host} cannot be reached: {error.orig}") from None
    finally:
        engine.dispose()


def downgrade(address: DatabaseAddress, to: str) -> None:
    """Back to an older version of the tables. For tests and for people who know why."""
    engine = create_engine(address.sqlalchemy_url, poolclass=NullPool, hide_parameters=True)
    with engine.connect() as connection:
        _become_owner(connection)
        command.downgrade(_alembic(connection), to)
        connection.commit()
    engine.dispose()


def _become_owner(connection: Connection) -> None:
    connection.execute(text(f"SET ROLE {OWNER_ROLE}"))
    # PUBLIC may execute every function by default; here each one is granted by name.
    connection.execute(text("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC"))
    connection.execute(text("SET lock_timeout = '10s'"))
    connection.commit()


def _alembic(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
