"""The three database roles. They belong to the whole server, not to one database."""

from contextlib import suppress
from typing import Any

import psycopg
import structlog
from psycopg import sql
from psycopg.errors import DuplicateObject, InsufficientPrivilege, InternalError_, UniqueViolation
from sqlalchemy import Connection, text
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from muniment.errors import MunimentError
from muniment.storage.db.address import APP_LOGIN, OWNER_ROLE, SERVICE_LOGIN, LoginPasswords

log = structlog.get_logger()

MAX_ATTEMPTS = 20


class CannotCreateRoles(MunimentError):
    """The login of DATABASE_URL is not allowed to create roles"""


def ensure_roles(connection: Connection, passwords: LoginPasswords) -> None:
    """Create missing roles, set the passwords, and allow this login to act as the owner. Safe to repeat and to run
    concurrently."""
    try:
        _ensure_with_retries(connection, passwords)
    except InsufficientPrivilege:
        raise CannotCreateRoles(_admin_instructions(connection)) from None


def _ensure_with_retries(connection: Connection, passwords: LoginPasswords) -> None:
    # "tuple concurrently updated": a migration of another database on this server changes the same roles, because our
    # lock is valid within one database only. It has committed by the time of this error.
    is_conflict = retry_if_exception_type((InternalError_, UniqueViolation))
    for attempt in Retrying(stop=stop_after_attempt(MAX_ATTEMPTS), retry=is_conflict, reraise=True):
        with attempt, connection.begin_nested():
            _ensure(connection, passwords)


def _ensure(connection: Connection, passwords: LoginPasswords) -> None:
    _create(connection, OWNER_ROLE, "NOLOGIN")
    for login, password in ((APP_LOGIN, passwords.app), (SERVICE_LOGIN, passwords.service)):
        _create(connection, login, "LOGIN")
        _set_password(connection, login, password)
    _grant_owner_role(connection)
    _revoke_temporary(connection)


def _create(connection: Connection, role: str, can_login: str) -> None:
    if connection.scalar(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role}):
        return
    statement = sql.SQL(f"CREATE ROLE {{}} {can_login} NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT")
    try:
        with connection.begin_nested():
            _execute(connection, statement.format(sql.Identifier(role)))
    except (DuplicateObject, UniqueViolation):
        # A migration of another database on this server was faster: our lock is valid within one database only.
        pass


def _set_password(connection: Connection, login: str, password: str) -> None:
    try:
        with connection.begin_nested():
            # Hashed here: the server would log a rejected statement with the plain password.
            verifier = _driver(connection).pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256")
            statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(login), verifier.decode())
            _execute(connection, statement)
    except InsufficientPrivilege:
        # We did not create this role: an administrator did, as `_admin_instructions` asks, and set its password.
        log.warning("migrate.password_unchanged", login=login)


def _grant_owner_role(connection: Connection) -> None:
    # From PostgreSQL 16 on, the creator of a role is a member that may not SET ROLE to it; 15 has no such option.
    privilege = "SET" if _driver(connection).info.server_version >= 160000 else "MEMBER"
    has_role = text("SELECT pg_has_role(current_user, :owner, :privilege)")
    if not connection.scalar(has_role, {"owner": OWNER_ROLE, "privilege": privilege}):
        _execute(connection, sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(OWNER_ROLE)))
    _execute(connection, sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {}").format(sql.Identifier(OWNER_ROLE)))
    _execute(
        connection,
        sql.SQL("GRANT USAGE ON SCHEMA public TO {}, {}").format(
            sql.Identifier(APP_LOGIN), sql.Identifier(SERVICE_LOGIN)
        ),
    )


def _revoke_temporary(connection: Connection) -> None:
    """Revoke the right to create temporary objects, which everybody has by default.

    A login could otherwise call a function of its own on rows that a view is about to hide.
    """
    driver = _driver(connection)
    may_create = text("SELECT has_database_privilege(:login, current_database(), 'TEMPORARY')")
    if not any(connection.scalar(may_create, {"login": login}) for login in (APP_LOGIN, SERVICE_LOGIN)):
        return
    with suppress(InsufficientPrivilege), connection.begin_nested():
        _execute(connection, _revoke_temporary_statement(driver))
    if connection.scalar(may_create, {"login": APP_LOGIN}):
        # This login does not own the database.
        log.warning("migrate.temporary_allowed", statement=_revoke_temporary_statement(driver).as_string(driver))


def _revoke_temporary_statement(driver: psycopg.Connection[Any]) -> sql.Composed:
    return sql.SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC").format(sql.Identifier(driver.info.dbname))


def _execute(connection: Connection, statement: sql.Composed) -> None:
    _driver(connection).execute(statement)  # psycopg has quoted everything, so there is nothing to bind


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def _admin_instructions(connection: Connection) -> str:
    driver = _driver(connection)
    user = driver.info.user
    return f"""The login of DATABASE_URL ({user}) may not create roles. Let an administrator of the server run this once
(with the passwords that MUNIMENT_DATABASE_APP_PASSWORD and …_SERVICE_PASSWORD hold), then `muniment migrate` again:

    CREATE ROLE {OWNER_ROLE} NOLOGIN NOINHERIT;
    CREATE ROLE {APP_LOGIN} LOGIN NOINHERIT PASSWORD '…';
    CREATE ROLE {SERVICE_LOGIN} LOGIN NOINHERIT PASSWORD '…';
    GRANT {OWNER_ROLE} TO "{user}";
    GRANT USAGE, CREATE ON SCHEMA public TO {OWNER_ROLE};
    GRANT USAGE ON SCHEMA public TO {APP_LOGIN}, {SERVICE_LOGIN};
    {_revoke_temporary_statement(driver).as_string(driver)};
    CREATE EXTENSION IF NOT EXISTS vector;
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
"""
