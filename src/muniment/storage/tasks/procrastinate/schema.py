"""Procrastinate's tables: created from its schema file, upgraded to the installed version by its migration files.

They are not part of our Alembic history. A new database gets the whole schema at once, an older one only the migrations
after the version that is recorded in the comment on the jobs table.
"""

import re
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

import psycopg

from muniment.errors import MunimentError

if TYPE_CHECKING:  # the supervisor loads this module, and does without SQLAlchemy
    from sqlalchemy import Connection

Version = tuple[int, ...]

_RECORDED_VERSION = "SELECT obj_description('procrastinate_jobs'::regclass)"

GRANTS = """
DO $$
DECLARE item record;
BEGIN
    FOR item IN SELECT oid::regclass AS name, relkind FROM pg_class
         WHERE relname LIKE 'procrastinate%' AND relkind IN ('r', 'S') AND relnamespace = 'public'::regnamespace
    LOOP
        IF item.relkind = 'S' THEN
            EXECUTE format('GRANT USAGE ON SEQUENCE %s TO muniment_service', item.name);
        ELSE
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO muniment_service', item.name);
        END IF;
    END LOOP;
    FOR item IN SELECT oid::regprocedure AS name FROM pg_proc
         WHERE proname LIKE 'procrastinate%' AND pronamespace = 'public'::regnamespace
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', item.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO muniment_service', item.name);
    END LOOP;
END $$
"""


class ForeignQueueTables(MunimentError):
    """This database contains Procrastinate tables that Muniment did not create. Use a separate database"""


def upgrade_schema(connection: "Connection") -> None:
    """Create or upgrade Procrastinate's tables, in the caller's transaction, and grant them to the service login."""
    version = _parse_version(metadata.version("procrastinate"))
    if connection.exec_driver_sql("SELECT to_regclass('procrastinate_jobs')").scalar() is None:
        _run_script(connection, (resources.files("procrastinate") / "sql" / "schema.sql").read_text())
    else:
        recorded = _recorded_version(connection)
        for file in migrations_since(recorded):
            _run_script(connection, file.read_text())
        version = max(version, recorded)  # never lower: migrations must not run twice
    connection.exec_driver_sql(f"COMMENT ON TABLE procrastinate_jobs IS 'procrastinate {_format_version(version)}'")
    _run_script(connection, GRANTS)


def has_current_schema(connection: psycopg.Connection) -> bool:
    """Return whether the tables are those of the installed version of Procrastinate."""
    found = connection.execute(_RECORDED_VERSION).fetchone()
    return found is not None and found[0] == f"procrastinate {metadata.version('procrastinate')}"


def migrations_since(version: Version) -> list[Traversable]:
    """Return Procrastinate's migration files after `version`, in order."""
    folder = resources.files("procrastinate") / "sql" / "migrations"
    named = ((file, re.match(r"(\d+\.\d+\.\d+)_", file.name)) for file in folder.iterdir())
    later = [file for file, name in named if name and _parse_version(name[1]) > version]
    return sorted(later, key=lambda file: file.name)


def _recorded_version(connection: "Connection") -> Version:
    comment = connection.exec_driver_sql(_RECORDED_VERSION).scalar()
    version = _parse_version(str(comment).removeprefix("procrastinate "))
    if not version:
        raise ForeignQueueTables
    return version


def _run_script(connection: "Connection", script: str) -> None:
    # Directly through the driver, because a `%` or `:` in the script is no parameter.
    connection.connection.cursor().execute(script)


def _parse_version(dotted: str) -> Version:
    return tuple(int(part) for part in re.findall(r"\d+", dotted)[:3])


def _format_version(version: Version) -> str:
    return ".".join(str(part) for part in version)
