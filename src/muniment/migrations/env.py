"""Alembic's entry point. `storage/db/migrate.py` opens the connection, takes the owner's role and calls this."""

from alembic import context
from sqlalchemy import Connection

connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
