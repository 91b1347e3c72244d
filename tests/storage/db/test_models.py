"""Models and migrations agree."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine
from sqlalchemy.dialects.postgresql import REGCONFIG
from sqlalchemy.dialects.postgresql.base import ischema_names

import muniment
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import Table
from muniment.storage.db.migrate import ensure_extensions
from tests.support.cluster import Cluster

ischema_names["regconfig"] = REGCONFIG  # SQLAlchemy knows the type, but does not reflect it
OURS = "NOT LIKE 'procrastinate%' AND {0} NOT IN ('alembic_version', 'alembic_version_pkc', 'schema_compatibility')"
CONSTRAINTS = f"""
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
       AND conrelid::regclass::text {OURS.format("conrelid::regclass::text")}
"""
INDEXES = f"SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename {OURS.format('tablename')}"
COLUMNS = f"""
    SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
       JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_type = 'BASE TABLE' AND table_schema = 'public' AND table_name {OURS.format("table_name")}
"""


def import_all_tables() -> None:
    for module in pkgutil.walk_packages(muniment.__path__, "muniment."):
        if module.name.endswith(".tables"):
            importlib.import_module(module.name)


@pytest.fixture
def from_models(cluster: Cluster) -> Iterator[DatabaseAddress]:
    """A database created from the models alone."""
    import_all_tables()
    with cluster.new_database(template="template0") as address:
        engine = create_engine(address.sqlalchemy_url)
        with engine.begin() as connection:
            ensure_extensions(connection)
            Table.metadata.create_all(connection)
        engine.dispose()
        yield address


def found(address: DatabaseAddress, question: str) -> set[Any]:
    with psycopg.connect(address.conninfo) as connection:
        return set(connection.execute(question).fetchall())


@pytest.mark.parametrize("question", [CONSTRAINTS, INDEXES, COLUMNS], ids=["constraints", "indexes", "columns"])
def test_models_and_migrations_make_the_same(
    address: DatabaseAddress, from_models: DatabaseAddress, question: str
) -> None:
    migrated = found(address, question)
    assert len(migrated) > 10
    assert migrated == found(from_models, question)


def test_alembic_finds_nothing_to_migrate(address: DatabaseAddress) -> None:
    import_all_tables()
    engine = create_engine(address.sqlalchemy_url)
    with engine.connect() as connection:
        options = {"include_object": _is_ours, "compare_type": True}
        differences = compare_metadata(MigrationContext.configure(connection, opts=options), Table.metadata)
    engine.dispose()
    assert differences == []


def _is_ours(_: object, name: str | None, kind: str, *__: object) -> bool:
    return not (kind == "table" and name and name.startswith(("procrastinate_", "alembic_", "schema_compatibility")))
