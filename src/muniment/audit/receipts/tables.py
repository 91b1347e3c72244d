from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class ReceiptMove(StrEnum):
    """How a document was deleted."""

    PURGE = "purge"
    CLEAR = "clear"
    AUTO_CLEAR = "auto_clear"
    """Deleted by an upload of the same name."""


class Receipt(Table):
    """Tombstone and receipt of a document.

    The transaction that deletes the document writes the tombstone; it is signed when all stores have been checked. It
    has no foreign key, because it outlives the document.
    """

    __tablename__ = "receipts"
    __table_args__ = (
        UniqueConstraint("document_id"),
        CheckConstraint("move IN ('purge', 'clear', 'auto_clear')", name="move_known"),
        CheckConstraint(
            "(record IS NULL) = (signed_at IS NULL) AND (signature IS NULL) = (signed_at IS NULL)", name="signed_whole"
        ),
        Index("ix_receipts_due", "organization_id", "next_attempt_at", postgresql_where=text("signed_at IS NULL")),
        Index(None, "knowledge_base_id", "id"),
        Index(None, "organization_id", "id"),
    )

    id: Mapped[UUID] = id_column()
    organization_id: Mapped[UUID]
    kb_id: Mapped[UUID] = mapped_column("knowledge_base_id")
    owner_id: Mapped[UUID]
    """Last owner of the knowledge base. They may read the receipt even if the knowledge base is gone."""
    document_id: Mapped[UUID]
    document_name: Mapped[str]
    move: Mapped[str]
    actor: Mapped[str]
    event_id: Mapped[UUID]
    """The audit event of the deletion."""
    found: Mapped[dict[str, Any]]
    """What the stores held: counts, keys and hashes, no text."""
    created_at: Mapped[datetime] = created_at_column()
    points: Mapped[int | None]
    """Points in an external index, counted just before they were deleted."""
    pending: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    """Stores that the last check could not prove empty."""
    attempts: Mapped[int] = mapped_column(server_default="0")
    next_attempt_at: Mapped[datetime]
    record: Mapped[dict[str, Any] | None]
    """Exactly what was signed."""
    signature: Mapped[str | None]
    signed_at: Mapped[datetime | None]
