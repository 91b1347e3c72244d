"""Table of the views that users have saved."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class ViewKind(StrEnum):
    """What a saved view shows. The values are stored."""

    SEARCH = "search"
    DOCUMENTS = "documents"
    """A list of documents. Nothing saves one yet."""


class SavedView(Table):
    """Parameters that a user has saved under a name. They can contain personal words: only the user can read them."""

    __tablename__ = "saved_views"
    __table_args__ = (
        UniqueConstraint("user_id", "kind", "name"),
        ForeignKeyConstraint(["user_id", "organization_id"], ["users.id", "users.organization_id"], ondelete="CASCADE"),
        CheckConstraint("kind IN ('search', 'documents')", name="kind_known"),
        CheckConstraint("length(name) BETWEEN 1 AND 100", name="name_length"),
    )

    id: Mapped[UUID] = id_column()
    organization_id: Mapped[UUID]
    user_id: Mapped[UUID]
    kind: Mapped[str]
    name: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
