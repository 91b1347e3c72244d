"""Schema version of the database and the one this release needs, checked without Alembic, which is slow to load."""

import re
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
    """The database is not at the version of this Muniment: run `muniment migrate`"""


class DatabaseUnreachable(MunimentError):
    """Cannot connect to the database"""


@cache
def newest_version() -> str:
    """Return the revision of the last migration file; their names sort by date."""
    last = max((MIGRATIONS / "versions").glob("*.py"), key=lambda file: file.name)
    found = re.search(r'^revision = "(.+)"$', last.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


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
    """Return the installation if all tables are of this version, both logins work, and a user can sign in with a
    password; otherwise `None`."""
    try:
        with psycopg.connect(address.conninfo, connect_timeout=5) as connection:
            version, emails = connection.execute(READINESS_QUERY).fetchone() or (None, None)
            is_current = version == newest_version() and tasks.has_current_schema(connection)
        for login, password in ((APP_LOGIN, passwords.app), (SERVICE_LOGIN, passwords.service)):
            psycopg.connect(address.as_login(login, password).conninfo, connect_timeout=5).close()
    except (psycopg.OperationalError, psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction):
        return None  # migrating repairs it or reports the error
    return ReadyInstallation(emails[0] if len(emails) == 1 else None) if is_current and emails else None
