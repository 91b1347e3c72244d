"""What PostgreSQL must be able to do beside its own: pgvector."""

from psycopg.errors import FeatureNotSupported, InsufficientPrivilege, UndefinedFile
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from muniment.errors import MunimentError

OLDEST = (0, 8)


class NoVectors(MunimentError):
    """PostgreSQL lacks pgvector 0.8 or newer: install it (Debian: postgresql-<version>-pgvector)"""


def ensure(connection: Connection) -> None:
    """Make pgvector usable in this database, or say who must do what."""
    try:
        with connection.begin_nested():
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except DBAPIError as error:
        if isinstance(error.orig, InsufficientPrivilege):
            raise NoVectors("Let an administrator run in this database: CREATE EXTENSION vector;") from None
        if isinstance(error.orig, FeatureNotSupported | UndefinedFile):
            raise NoVectors from None
        raise
    found = connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'"))
    if tuple(int(part) for part in str(found).split(".")[:2]) < OLDEST:
        raise NoVectors(f"pgvector is {found}, and 0.8 is needed: install it, then ALTER EXTENSION vector UPDATE;")
