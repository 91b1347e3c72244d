"""The three roles. They belong to the whole server, not to one database."""

from itertools import count
from typing import Any

import psycopg
import structlog
from psycopg import sql
from psycopg.errors import DuplicateObject, InsufficientPrivilege, InternalError_, UniqueViolation
from sqlalchemy import Connection, text

from muniment.errors import MunimentError
from muniment.storage.db.address import APP_LOGIN, OWNER_ROLE, SERVICE_LOGIN, LoginPasswords

log = structlog.get_logger()

MAX_ATTEMPTS = 20


class CannotCreateRoles(MunimentError):
    """The login of DATABASE_URL is not allowed to create roles"""


def ensure_roles(connection: Connection, passwords: LoginPasswords) -> None:
    """Make what is missing, set the passwords, and become able to act as the owner. Safe to repeat and in parallel."""
    try:
        _ensure_with_retries(connection, passwords)
    except InsufficientPrivilege:
        raise CannotCreateRoles(_admin_instructions(connection)) from None


def _ensure_with_retries(connection: Connection, passwords: LoginPasswords) -> None:
    for attempt in count(1):
        try:
            with connection.begin_nested():
                _ensure(connection, passwords)
            return
        except (InternalError_, UniqueViolation):
            # "tuple concurrently updated": a migrate of another database on this server changes the same roles, and
            # our lock holds within one database only. It has committed by now.
            if attempt == MAX_ATTEMPTS:
                raise


def _ensure(connection: Connection, passwords: LoginPasswords) -> None:
    _create(connection, OWNER_ROLE, "NOLOGIN")
    for login, password in ((APP_LOGIN, passwords.app), (SERVICE_LOGIN, passwords.service)):
        _create(connection, login, "LOGIN")
        _set_password(connection, login, password)
    _grant_owner_role(connection)


def _create(connection: Connection, role: str, can_login: str) -> None:
    if connection.scalar(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role}):
        return
    statement = sql.SQL(f"CREATE ROLE {{}} {can_login} NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT")
    try:
        with connection.begin_nested():
            _execute(connection, statement.format(sql.Identifier(role)))
    except (DuplicateObject, UniqueViolation):
        # Another migrate of another database on this server was faster: our lock holds within one database only.
        pass


def _set_password(connection: Connection, login: str, password: str) -> None:
    try:
        with connection.begin_nested():
            # Hashed here: a statement that is refused stands in the server's log, password and all.
            verifier = _driver(connection).pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256")
            statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(login), verifier.decode())
            _execute(connection, statement)
    except InsufficientPrivilege:
        # Not made by us, or we could: an administrator did, as `_advice` says, and gave it its password.
        log.warning("migrate.password_left_alone", login=login)


def _grant_owner_role(connection: Connection) -> None:
    # From PostgreSQL 16 on, whoever creates a role is a member that may not SET ROLE to it; 15 lacks the word.
    way = "SET" if _driver(connection).info.server_version >= 160000 else "MEMBER"
    if not connection.scalar(text("SELECT pg_has_role(current_user, :owner, :way)"), {"owner": OWNER_ROLE, "way": way}):
        _execute(connection, sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(OWNER_ROLE)))
    _execute(connection, sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {}").format(sql.Identifier(OWNER_ROLE)))
    _execute(
        connection,
        sql.SQL("GRANT USAGE ON SCHEMA public TO {}, {}").format(
            sql.Identifier(APP_LOGIN), sql.Identifier(SERVICE_LOGIN)
        ),
    )


def _execute(connection: Connection, statement: sql.Composed) -> None:
    _driver(connection).execute(statement)  # quoted by psycopg, so nothing is left to bind


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def _admin_instructions(connection: Connection) -> str:
    user = _driver(connection).info.user
    return f"""The login of DATABASE_URL ({user}) may not create roles. Let an administrator of the server run this once
(with the passwords that MUNIMENT_DATABASE_APP_PASSWORD and …_SERVICE_PASSWORD hold), then `muniment migrate` again:

    CREATE ROLE {OWNER_ROLE} NOLOGIN NOINHERIT;
    CREATE ROLE {APP_LOGIN} LOGIN NOINHERIT PASSWORD '…';
    CREATE ROLE {SERVICE_LOGIN} LOGIN NOINHERIT PASSWORD '…';
    GRANT {OWNER_ROLE} TO "{user}";
    GRANT USAGE, CREATE ON SCHEMA public TO {OWNER_ROLE};
    GRANT USAGE ON SCHEMA public TO {APP_LOGIN}, {SERVICE_LOGIN};
    CREATE EXTENSION IF NOT EXISTS vector;
"""
