"""Base of all tables: naming convention, type of ids, times in UTC."""

from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import DateTime, MetaData, Text, Uuid, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from uuid_utils.compat import uuid7


class Table(DeclarativeBase):
    """Declarative base with our naming convention and column types."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text(),
        datetime: DateTime(timezone=True),
        UUID: Uuid(),
        dict[str, Any]: JSONB(none_as_null=True),  # store None as NULL, not as JSON `null`, which `IS NULL` misses
    }


FIRST_ID = UUID(int=0)
"""Sorts before every other id: where paging by id starts."""


def new_id() -> UUID:
    """Return a new UUID of version 7, which sorts by time, so that an index on it grows at one end."""
    return uuid7()


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def id_column() -> Mapped[UUID]:
    """Return the primary key column of a table with its own ids."""
    return mapped_column(primary_key=True, default=new_id)


def created_at_column() -> Mapped[datetime]:
    """Return a column that the database fills with the time of the insert."""
    return mapped_column(server_default=func.now())
