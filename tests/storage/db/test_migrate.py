"""Upgrade, downgrade, upgrade; concurrent migrations; and programs that meet tables of another version."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, text

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.migrate import downgrade, migrate
from muniment.storage.db.schema_version import (
    DatabaseUnreachable,
    SchemaOutOfDate,
    SchemaTooNew,
    find_ready_installation,
    newest_version,
)
from muniment.storage.db.work import Database
from muniment.storage.tasks.procrastinate.engine import ProcrastinateEngine
from tests.support.cluster import PASSWORDS, Cluster, app_login, service_login
from tests.support.seed import Seed

EVERYTHING = """
    SELECT 'table', relname, relacl::text FROM pg_class
     WHERE relkind IN ('r', 'i', 'S') AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'function', oid::regprocedure::text, proacl::text FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'policy', tablename || '.' || policyname, concat(qual, with_check) FROM pg_policies
    UNION ALL SELECT 'trigger', tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal
"""
OURS_LEFT = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'procrastinate%%'"


@pytest.fixture
def empty(cluster: Cluster) -> Iterator[DatabaseAddress]:
    with cluster.new_database(template="template0") as address:
        yield address


def everything(address: DatabaseAddress) -> set[tuple[str, ...]]:
    with psycopg.connect(address.conninfo) as connection:
        return set(connection.execute(EVERYTHING).fetchall())


def test_up_down_and_up_again_ends_where_it_was(address: DatabaseAddress, seed: Seed) -> None:
    before = everything(address)
    downgrade(address, "base")
    assert seed.one(OURS_LEFT) == 1  # Alembic's own
    migrate(address, PASSWORDS, ProcrastinateEngine())
    assert everything(address) == before


def test_neither_login_may_create_temporary_objects(address: DatabaseAddress, seed: Seed) -> None:
    seed.execute(f'GRANT TEMPORARY ON DATABASE "{address.database}" TO PUBLIC')
    migrate(address, PASSWORDS, ProcrastinateEngine())
    for login in (app_login(address), service_login(address)):
        with psycopg.connect(login.conninfo) as connection, pytest.raises(InsufficientPrivilege):
            connection.execute("CREATE FUNCTION pg_temp.told(text) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
        with psycopg.connect(login.conninfo) as connection, pytest.raises(InsufficientPrivilege):
            connection.execute("CREATE TEMPORARY TABLE documents (id uuid)")


def test_migrating_again_changes_nothing(address: DatabaseAddress) -> None:
    before = everything(address)
    migrate(address, PASSWORDS, ProcrastinateEngine())
    assert everything(address) == before


def processes(number: int) -> ProcessPoolExecutor:
    """Processes instead of threads: Alembic keeps the running migration in global variables."""
    return ProcessPoolExecutor(number, mp_context=get_context("spawn"))


@pytest.mark.slow
def test_of_two_that_migrate_at_once_one_works_and_the_other_waits(empty: DatabaseAddress) -> None:
    with processes(2) as pool:
        for done in [pool.submit(migrate, empty, PASSWORDS, ProcrastinateEngine()) for _ in range(2)]:
            done.result(timeout=60)
    with psycopg.connect(empty.conninfo) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(newest_version(),)]


@pytest.mark.slow
def test_databases_of_one_server_are_migrated_at_once(cluster: Cluster) -> None:
    with ExitStack() as opened, processes(3) as pool:
        databases = [opened.enter_context(cluster.new_database()) for _ in range(3)]
        for _ in range(4):
            for done in [pool.submit(migrate, database, PASSWORDS, ProcrastinateEngine()) for database in databases]:
                done.result(timeout=60)


def test_what_comes_after_runs_as_the_owner_and_in_the_same_breath(address: DatabaseAddress, seed: Seed) -> None:
    def then(connection: Connection) -> None:
        name = connection.scalar(text("SELECT current_user"))
        connection.execute(text("INSERT INTO organizations VALUES (gen_random_uuid(), :name)"), {"name": name})

    migrate(address, PASSWORDS, ProcrastinateEngine(), then)
    assert seed.rows("SELECT name FROM organizations") == [("muniment_owner",)]


def upgrade_to_a_later_version(seed: Seed, *, compatible_from: str) -> None:
    """Leave the database as a migration of a later version of Muniment would."""
    seed.execute("UPDATE alembic_version SET version_num = 'later'")
    seed.execute("INSERT INTO schema_compatibility (version, compatible_from) VALUES ('later', %s)", compatible_from)


async def test_a_program_accepts_newer_tables_that_are_compatible_with_it(
    address: DatabaseAddress, database: Database, seed: Seed
) -> None:
    upgrade_to_a_later_version(seed, compatible_from=newest_version())
    person = seed.person()
    before = everything(address)

    await database.require_current_schema()
    found = find_ready_installation(address, PASSWORDS, ProcrastinateEngine())
    migrate(address, PASSWORDS, ProcrastinateEngine())

    assert found is not None
    assert found.email == person.email
    assert seed.one("SELECT version_num FROM alembic_version") == "later"
    assert everything(address) == before


async def test_newer_tables_that_are_not_compatible_ask_for_an_upgrade_of_the_program(
    address: DatabaseAddress, database: Database, seed: Seed
) -> None:
    upgrade_to_a_later_version(seed, compatible_from="later")
    seed.person()
    with pytest.raises(SchemaTooNew, match="upgrade Muniment"):
        await database.require_current_schema()
    with pytest.raises(SchemaTooNew):
        find_ready_installation(address, PASSWORDS, ProcrastinateEngine())
    with pytest.raises(SchemaTooNew):
        migrate(address, PASSWORDS, ProcrastinateEngine())


async def test_a_version_nobody_knows_without_a_record_asks_for_an_upgrade_too(database: Database, seed: Seed) -> None:
    seed.execute("UPDATE alembic_version SET version_num = 'later'")
    seed.execute("DROP FUNCTION schema_accepts_version(text)")
    with pytest.raises(SchemaTooNew):
        await database.require_current_schema()


def test_every_migration_records_the_versions_it_is_compatible_with(address: DatabaseAddress, seed: Seed) -> None:
    recorded = "SELECT version, compatible_from FROM schema_compatibility ORDER BY position"
    before = seed.rows(recorded)
    assert before[-1][0] == newest_version()
    assert {compatible_from for _, compatible_from in before} <= {version for version, _ in before}
    downgrade(address, "-1")
    migrate(address, PASSWORDS, ProcrastinateEngine())
    assert seed.rows(recorded) == before


async def test_a_program_refuses_older_tables(address: DatabaseAddress, database: Database, seed: Seed) -> None:
    await database.require_current_schema()
    for behind in ("-1", "base"):
        downgrade(address, behind)
        with pytest.raises(SchemaOutOfDate):
            await database.require_current_schema()
    seed.execute("DROP TABLE alembic_version")
    with pytest.raises(SchemaOutOfDate):
        await database.require_current_schema()


async def test_a_server_that_is_not_there_is_named(address: DatabaseAddress) -> None:
    nowhere = DatabaseAddress("127.0.0.1", 1, address.database, "postgres", "")
    with pytest.raises(DatabaseUnreachable, match=r"127\.0\.0\.1"):
        migrate(nowhere, PASSWORDS, ProcrastinateEngine())
    database = Database(nowhere, app_password="", service_password="", pool_size=1)
    with pytest.raises(DatabaseUnreachable):
        await database.require_current_schema()
    await database.close()
