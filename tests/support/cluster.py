"""One real PostgreSQL for the whole run, started by our own code, with a migrated template to copy databases from."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from muniment.embedded.postgres import EmbeddedPostgres
from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN, DatabaseAddress, LoginPasswords
from muniment.storage.db.migrate import migrate
from muniment.storage.tasks.procrastinate.engine import ProcrastinateEngine
from tests.support.folders import shared_folder

TEMPLATE = "muniment_template"
PASSWORDS = LoginPasswords(app="app password of the tests", service="service password of the tests")
SUPERUSER_PASSWORD = "superuser password of the tests"


@dataclass(frozen=True)
class Cluster:
    """Address of the server, passed between the processes of a parallel run as plain values."""

    host: str
    port: int

    @property
    def superuser(self) -> DatabaseAddress:
        return DatabaseAddress(self.host, self.port, "postgres", "postgres", SUPERUSER_PASSWORD)

    @contextmanager
    def new_database(self, template: str = TEMPLATE) -> Iterator[DatabaseAddress]:
        """Create a database and return its address as the superuser. It is dropped at the end, even if connections are
        open."""
        name = f"test_{uuid4().hex}"
        # The faster strategy if the disk is in memory.
        self.run("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template)
        try:
            yield self.superuser.at_database(name)
        finally:
            self.run("DROP DATABASE {} WITH (FORCE)", name)

    def run(self, statement: str, *names: str) -> None:
        _superuser(self.superuser.conninfo).execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@cache
def _superuser(conninfo: str) -> psycopg.Connection[TupleRow]:
    """Return one connection per process: connecting takes as long as creating a database."""
    return psycopg.connect(conninfo, autocommit=True)


class RunningCluster:
    def __init__(self, *, durable: bool = False) -> None:
        self._cleanup = ExitStack()
        folder = self._cleanup.enter_context(shared_folder())
        self._postgres = EmbeddedPostgres(folder, password=SUPERUSER_PASSWORD, durable=durable)

    def start(self) -> Cluster:
        address = self._postgres.start()
        cluster = Cluster(address.host, address.port)
        _reduce_password_cost(cluster)
        cluster.run("CREATE DATABASE {} TEMPLATE template0", TEMPLATE)
        migrate(cluster.superuser.at_database(TEMPLATE), PASSWORDS, ProcrastinateEngine())
        return cluster

    def stop(self) -> None:
        self._postgres.stop()
        self._cleanup.close()


def _reduce_password_cost(cluster: Cluster) -> None:
    """Reduce the cost of password hashing, which takes half the time of connecting."""
    with psycopg.connect(cluster.superuser.conninfo, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET scram_iterations = 1")
        connection.execute("SET scram_iterations = 1")
        connection.execute(sql.SQL("ALTER ROLE postgres PASSWORD {}").format(sql.Literal(SUPERUSER_PASSWORD)))
        connection.execute("SELECT pg_reload_conf()")


def app_login(database: DatabaseAddress) -> DatabaseAddress:
    return database.as_login(APP_LOGIN, PASSWORDS.app)


def service_login(database: DatabaseAddress) -> DatabaseAddress:
    return database.as_login(SERVICE_LOGIN, PASSWORDS.service)
