"""Schema version of the database and the one this release needs, checked without Alembic, which is slow to load."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from muniment.errors import MunimentError
from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN, DatabaseAddress, LoginPasswords

if TYPE_CHECKING:  # its module loads SQLAlchemy
    from muniment.storage.tasks.port import TaskEngine

MIGRATIONS = Path(__file__).parents[2] / "migrations"


class SchemaOutOfDate(MunimentError):
    """The database is older than this Muniment: run `muniment migrate`"""


class SchemaTooNew(MunimentError):
    """The database belongs to a newer Muniment that this version cannot work with: upgrade Muniment"""


class DatabaseUnreachable(MunimentError):
    """Cannot connect to the database"""


@cache
def known_versions() -> Sequence[str]:
    """Return the revisions of all migration files, oldest first; their names sort by date."""
    files = sorted((MIGRATIONS / "versions").glob("*.py"), key=lambda file: file.name)
    found = [re.search(r'^revision = "(.+)"$', file.read_text(encoding="utf-8"), re.MULTILINE) for file in files]
    return [revision[1] for revision in found if revision]


def newest_version() -> str:
    """Return the revision of the last migration file."""
    return known_versions()[-1]


def is_newer(found: str | None) -> bool:
    """Return whether the database has a version that this Muniment does not know."""
    return found is not None and found not in known_versions()


def require_accepted_schema(found: str | None, *, accepts_this_version: bool) -> None:
    """Raise `SchemaOutOfDate` if the database is older, or `SchemaTooNew` if it is newer and not compatible.

    Migrations only add, so that during a rolling upgrade processes of the previous version keep working on the tables
    of the new one. `accepts_this_version` is what the newer database says about us.
    """
    if is_newer(found):
        if not accepts_this_version:
            raise SchemaTooNew
    elif found != newest_version():
        raise SchemaOutOfDate


ACCEPTS_VERSION = "SELECT schema_accepts_version(%(version)s)"


def accepts_this_version(connection: psycopg.Connection) -> bool:
    """Return whether a newer database is compatible with this version of Muniment."""
    if connection.execute("SELECT to_regprocedure('public.schema_accepts_version(text)')").fetchone() == (None,):
        return False
    return connection.execute(ACCEPTS_VERSION, {"version": newest_version()}).fetchone() == (True,)


READINESS_QUERY = """
    SELECT (SELECT version_num FROM alembic_version),
           (SELECT array_agg(email) FROM list_password_logins() AS email)
"""


@dataclass(frozen=True)
class ReadyInstallation:
    """An installation that needs no migration."""

    email: str | None
    """Address of the only user who can sign in with a password; `None` if there are several."""


def find_ready_installation(
    address: DatabaseAddress, passwords: LoginPasswords, tasks: "TaskEngine"
) -> ReadyInstallation | None:
    """Return the installation if all tables are of this version or a compatible newer one, both logins work, and a
    user can sign in with a password; otherwise `None`."""
    try:
        with psycopg.connect(address.conninfo, connect_timeout=5) as connection:
            version, emails = connection.execute(READINESS_QUERY).fetchone() or (None, None)
            is_current = _is_current(connection, version, tasks)
        for login, password in ((APP_LOGIN, passwords.app), (SERVICE_LOGIN, passwords.service)):
            psycopg.connect(address.as_login(login, password).conninfo, connect_timeout=5).close()
    except (psycopg.OperationalError, psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction):
        return None  # migrating repairs it or reports the error
    return ReadyInstallation(emails[0] if len(emails) == 1 else None) if is_current and emails else None


def _is_current(connection: psycopg.Connection, version: str | None, tasks: "TaskEngine") -> bool:
    """Return whether migrating would change nothing. A newer version has upgraded the tables of the queue as well.

    Raise `SchemaTooNew` if the database is newer and not compatible: migrating could not help.
    """
    if is_newer(version):
        require_accepted_schema(version, accepts_this_version=accepts_this_version(connection))
        return True
    return version == newest_version() and tasks.has_current_schema(connection)
