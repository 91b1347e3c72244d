"""A quick look that spares a start the migrations: is there nothing to do?"""

from dataclasses import dataclass
from importlib import metadata

import psycopg

from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN, DatabaseAddress, LoginPasswords
from muniment.storage.db.version import newest_version

LOOK = """
    SELECT (SELECT version_num FROM alembic_version),
           obj_description('procrastinate_jobs'::regclass),
           (SELECT array_agg(email) FROM (SELECT email FROM users WHERE password_hash IS NOT NULL LIMIT 2) people)
"""


@dataclass(frozen=True)
class Settled:
    email: str | None
    """Of the one person who can sign in with a password; `None` when there are several."""


def look(address: DatabaseAddress, passwords: LoginPasswords) -> Settled | None:
    """`None` unless all tables are of this version, both logins work, and somebody can sign in with a password."""
    try:
        with psycopg.connect(address.conninfo, connect_timeout=5) as connection:
            version, queue, emails = connection.execute(LOOK).fetchone() or (None, None, None)
        for login, password in ((APP_LOGIN, passwords.app), (SERVICE_LOGIN, passwords.service)):
            psycopg.connect(address.as_login(login, password).conninfo, connect_timeout=5).close()
    except (psycopg.OperationalError, psycopg.errors.UndefinedTable):
        return None  # whatever it is, migrating mends it or says it
    is_current = (version, queue) == (newest_version(), f"procrastinate {metadata.version('procrastinate')}")
    return Settled(emails[0] if len(emails) == 1 else None) if is_current and emails else None
