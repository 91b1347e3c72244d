"""Alembic's entry point. `storage/db/migrate.py` opens the connection, takes the owner's role and calls this."""

from collections.abc import Collection, Mapping
from typing import Any

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo
from alembic.script import Script
from sqlalchemy import Connection, text

HAS_TABLE = text("SELECT to_regclass('public.schema_compatibility') IS NOT NULL")
ADD_VERSION = text("""
    INSERT INTO schema_compatibility (version, compatible_from)
    VALUES (:version, coalesce(:compatible_from,
                               (SELECT compatible_from FROM schema_compatibility ORDER BY position DESC LIMIT 1)))
""")
REMOVE_VERSION = text("DELETE FROM schema_compatibility WHERE version = :version")


def record_compatibility(
    ctx: MigrationContext, step: MigrationInfo, heads: Collection[Any], run_args: Mapping[str, Any]
) -> None:
    """Record, in the transaction of a migration, which versions of Muniment can work with the tables it leaves."""
    del heads, run_args
    assert ctx.connection is not None
    if not ctx.connection.scalar(HAS_TABLE):
        return
    version = step.up_revision_id
    if step.is_upgrade:
        migration = step.up_revision
        assert isinstance(migration, Script)
        compatible_from = getattr(migration.module, "compatible_from", None)
        ctx.connection.execute(ADD_VERSION, {"version": version, "compatible_from": compatible_from})
    else:
        ctx.connection.execute(REMOVE_VERSION, {"version": version})


connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, transaction_per_migration=True, on_version_apply=record_compatibility)
with context.begin_transaction():
    context.run_migrations()
