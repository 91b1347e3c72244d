"""Procrastinate's tables: created from its schema file, upgraded to the installed version by its migration files.

They are not part of our Alembic history. A new database gets the whole schema at once, an older one only the migrations
since the version that the comment on the jobs table names.
"""

import re
from importlib import metadata, resources
from importlib.resources.abc import Traversable

from sqlalchemy import Connection, text

from muniment.errors import MunimentError

Version = tuple[int, ...]

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


def upgrade_schema(connection: Connection) -> None:
    """Create or upgrade the queue's tables, in the caller's transaction, and let the service login use them."""
    version = _parse_version(metadata.version("procrastinate"))
    if connection.scalar(text("SELECT to_regclass('procrastinate_jobs')")) is None:
        _run_script(connection, (resources.files("procrastinate") / "sql" / "schema.sql").read_text())
    else:
        recorded = _recorded_version(connection)
        for file in migrations_since(recorded):
            _run_script(connection, file.read_text())
        version = max(version, recorded)  # never back: what has run must not run again
    connection.exec_driver_sql(f"COMMENT ON TABLE procrastinate_jobs IS 'procrastinate {_format_version(version)}'")
    _run_script(connection, GRANTS)


def migrations_since(version: Version) -> list[Traversable]:
    """Procrastinate's migration files that came after `version`, in their order."""
    folder = resources.files("procrastinate") / "sql" / "migrations"
    named = ((file, re.match(r"(\d+\.\d+\.\d+)_", file.name)) for file in folder.iterdir())
    later = [file for file, name in named if name and _parse_version(name[1]) > version]
    return sorted(later, key=lambda file: file.name)


def _recorded_version(connection: Connection) -> Version:
    comment = connection.scalar(text("SELECT obj_description('procrastinate_jobs'::regclass)"))
    version = _parse_version(str(comment).removeprefix("procrastinate "))
    if not version:
        raise ForeignQueueTables
    return version


def _run_script(connection: Connection, script: str) -> None:
    # Straight to the driver without parameters, so that a `%` or `:` in the script means itself.
    connection.connection.cursor().execute(script)


def _parse_version(dotted: str) -> Version:
    return tuple(int(part) for part in re.findall(r"\d+", dotted)[:3])


def _format_version(version: Version) -> str:
    return ".".join(str(part) for part in version)
