"""Who may migrate, on a separate server: roles belong to the whole server."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from muniment.embedded.postgres import EmbeddedPostgres
from muniment.storage.db.address import APP_LOGIN, OWNER_ROLE, SERVICE_LOGIN, DatabaseAddress, LoginPasswords
from muniment.storage.db.migrate import PgvectorMissing, migrate
from muniment.storage.db.roles import CannotCreateRoles
from muniment.storage.tasks.procrastinate.engine import ProcrastinateEngine

pytestmark = pytest.mark.slow

FIRST = LoginPasswords(app="it's the first", service='the "first" of the service')
SECOND = LoginPasswords(app="the second", service="the second of the service")
OWN = "a_database_of_ones_own"


@pytest.fixture(scope="module")
def server() -> Iterator[DatabaseAddress]:
    folder = Path(tempfile.mkdtemp(prefix="mun-"))  # short: a unix socket path is limited to 107 bytes
    folder.chmod(0o755)
    postgres = EmbeddedPostgres(folder, password="superuser", durable=False)
    yield postgres.start()
    postgres.stop()
    shutil.rmtree(folder)


@pytest.fixture
def superuser(server: DatabaseAddress) -> Iterator[psycopg.Connection]:
    """Connection of the administrator of a server without Muniment."""
    with psycopg.connect(server.conninfo, autocommit=True) as connection:
        yield connection
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(OWN)))
        for role in ("plain", "maker", SERVICE_LOGIN, APP_LOGIN, OWNER_ROLE):
            connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))


def a_login(superuser: psycopg.Connection, server: DatabaseAddress, name: str, right: str = "") -> DatabaseAddress:
    """Create a login with its own database, as hosted PostgreSQL does."""
    superuser.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER {right} PASSWORD 'own'")
    superuser.execute(f"CREATE DATABASE {OWN} OWNER {name} TEMPLATE template0")
    return server.as_login(name, "own").at_database(OWN)


def with_vectors(server: DatabaseAddress) -> None:
    """Install the extension, as an administrator does on request."""
    with psycopg.connect(server.at_database(OWN).conninfo, autocommit=True) as administrator:
        administrator.execute("CREATE EXTENSION vector")


def test_a_login_that_may_not_make_vectors_usable_says_who_must(
    superuser: psycopg.Connection, server: DatabaseAddress
) -> None:
    address = a_login(superuser, server, "maker", "CREATEROLE")
    with pytest.raises(PgvectorMissing, match="CREATE EXTENSION vector"):
        migrate(address, FIRST, ProcrastinateEngine())


def can_log_in(address: DatabaseAddress, login: str, password: str) -> bool:
    try:
        psycopg.connect(address.as_login(login, password).conninfo).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_login_that_may_create_roles_migrates_and_sets_the_passwords(
    superuser: psycopg.Connection, server: DatabaseAddress
) -> None:
    address = a_login(superuser, server, "maker", "CREATEROLE")
    with_vectors(server)
    migrate(address, FIRST, ProcrastinateEngine())
    migrate(address, FIRST, ProcrastinateEngine())
    assert can_log_in(address, APP_LOGIN, FIRST.app)
    assert can_log_in(address, SERVICE_LOGIN, FIRST.service)
    assert not can_log_in(address, APP_LOGIN, FIRST.service)
    with psycopg.connect(address.conninfo) as connection:
        owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
        assert connection.execute(owners).fetchall() == [(OWNER_ROLE,)]


def test_no_password_reaches_the_servers_log_even_if_it_logs_every_statement(
    superuser: psycopg.Connection, server: DatabaseAddress
) -> None:
    superuser.execute("ALTER SYSTEM SET log_statement = 'all'")
    superuser.execute("SELECT pg_reload_conf()")
    a_login(superuser, server, "maker", "CREATEROLE")
    migrate(server.at_database(OWN), SECOND, ProcrastinateEngine())
    written = (Path(server.host).parents[1] / "postgres.log").read_text()
    assert "ALTER ROLE" in written
    assert SECOND.app not in written
    assert SECOND.service not in written
    superuser.execute("ALTER SYSTEM RESET log_statement")
    superuser.execute("SELECT pg_reload_conf()")


def test_another_password_replaces_the_old_one(superuser: psycopg.Connection, server: DatabaseAddress) -> None:
    address = a_login(superuser, server, "maker", "CREATEROLE")
    with_vectors(server)
    migrate(address, FIRST, ProcrastinateEngine())
    migrate(address, SECOND, ProcrastinateEngine())
    assert can_log_in(address, APP_LOGIN, SECOND.app)
    assert can_log_in(address, SERVICE_LOGIN, SECOND.service)
    assert not can_log_in(address, APP_LOGIN, FIRST.app)


def test_a_login_that_may_not_create_roles_says_what_an_administrator_has_to_run_and_that_is_enough(
    superuser: psycopg.Connection, server: DatabaseAddress
) -> None:
    address = a_login(superuser, server, "plain")
    with pytest.raises(CannotCreateRoles) as refused:
        migrate(address, FIRST, ProcrastinateEngine())
    assert superuser.execute("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'muniment%'").fetchone() == (0,)
    _run_as_told(server.at_database(OWN), refused.value.message)
    migrate(address, FIRST, ProcrastinateEngine())
    migrate(address, FIRST, ProcrastinateEngine())
    assert can_log_in(address, APP_LOGIN, FIRST.app)
    assert can_log_in(address, SERVICE_LOGIN, FIRST.service)


def _run_as_told(database: DatabaseAddress, advice: str) -> None:
    """Run every indented line, with passwords in place of the dots."""
    statements = re.findall(r"^    (.+;)$", advice, re.MULTILINE)
    assert len(statements) == 9
    passwords = iter([FIRST.app, FIRST.service])
    with psycopg.connect(database.conninfo, autocommit=True) as connection:
        for statement in statements:
            password = sql.Literal(next(passwords)).as_string() if "'…'" in statement else ""
            connection.execute(statement.replace("'…'", password))
