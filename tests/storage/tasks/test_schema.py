"""Procrastinate's schema: installed completely, upgraded incrementally, never downgraded."""

from collections.abc import Iterator
from importlib import metadata, resources
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, create_engine

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.tasks.procrastinate.schema import ForeignQueueTables, migrations_since, upgrade_schema
from tests.support.cluster import Cluster
from tests.support.seed import Seed

COMMENT = "SELECT obj_description('procrastinate_jobs'::regclass)"
INSTALLED = f"procrastinate {metadata.version('procrastinate')}"
PARTS = """
    SELECT oid::regprocedure::text, has_function_privilege('muniment_service', oid, 'EXECUTE') FROM pg_proc
     WHERE proname LIKE 'procrastinate%' AND pronamespace = 'public'::regnamespace
    UNION SELECT enumlabel, true FROM pg_enum
    UNION SELECT table_name || '.' || column_name, true FROM information_schema.columns
     WHERE table_name LIKE 'procrastinate%'
"""


@pytest.fixture
def connection(address: DatabaseAddress) -> Iterator[Connection]:
    engine = create_engine(address.sqlalchemy_url)
    with engine.connect() as connection:
        connection.exec_driver_sql("SET ROLE muniment_owner")
        yield connection
    engine.dispose()


def names(version: tuple[int, ...]) -> list[str]:
    return [file.name for file in migrations_since(version)]


def test_the_version_is_recorded(seed: Seed) -> None:
    assert seed.one(COMMENT) == INSTALLED


def test_only_what_came_later_runs_and_in_its_order() -> None:
    assert names((3, 3, 0)) == [
        "03.04.00_01_pre_add_retry_failed_job_procedure.sql",
        "03.04.00_50_post_add_retry_failed_job_procedure.sql",
    ]
    assert names((3, 3, 9)) == names((3, 3, 0))
    assert names((3, 2, 0)) == ["03.03.00_01_pre_priority_lock_fetch_job.sql", *names((3, 3, 0))]
    assert names(tuple(map(int, metadata.version("procrastinate").split(".")[:3]))) == []
    every_file = resources.files("procrastinate") / "sql" / "migrations"
    assert names(()) == sorted(file.name for file in every_file.iterdir() if file.name.endswith(".sql"))


def test_a_database_that_an_older_version_laid_becomes_as_a_new_one(address: DatabaseAddress, cluster: Cluster) -> None:
    with cluster.new_database(template="template0") as older:
        with psycopg.connect(older.conninfo, autocommit=True) as laying:
            for file in sorted(set(migrations_since(())) - set(migrations_since((3, 3, 0))), key=lambda f: f.name):
                laying.execute(file.read_text())
            laying.execute("COMMENT ON TABLE procrastinate_jobs IS 'procrastinate 3.3.0'")
        assert parts(older) < parts(address)
        engine = create_engine(older.sqlalchemy_url)
        with engine.begin() as connection:
            upgrade_schema(connection)
        engine.dispose()
        assert parts(older) == parts(address)


def parts(address: DatabaseAddress) -> set[Any]:
    with psycopg.connect(address.conninfo) as connection:
        return set(connection.execute(PARTS).fetchall())


def test_a_newer_version_is_not_taken_back(seed: Seed, connection: Connection) -> None:
    seed.execute("COMMENT ON TABLE procrastinate_jobs IS 'procrastinate 3.99.0'")
    upgrade_schema(connection)
    connection.commit()
    assert seed.one(COMMENT) == "procrastinate 3.99.0"


def test_tables_that_somebody_else_laid_are_left_alone(seed: Seed, connection: Connection) -> None:
    seed.execute("COMMENT ON TABLE procrastinate_jobs IS NULL")
    with pytest.raises(ForeignQueueTables):
        upgrade_schema(connection)


def test_a_new_database_gets_the_whole_schema_in_the_callers_transaction(cluster: Cluster) -> None:
    with cluster.new_database(template="template0") as address:
        engine = create_engine(address.sqlalchemy_url)
        with engine.connect() as connection:
            upgrade_schema(connection)
            connection.rollback()
        engine.dispose()
        with psycopg.connect(address.conninfo) as looking:
            assert looking.execute("SELECT to_regclass('procrastinate_jobs')").fetchone() == (None,)
