from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class ReceiptMove(StrEnum):
    """How a document left."""

    PURGE = "purge"
    CLEAR = "clear"
    AUTO_CLEAR = "auto_clear"
    """Made way for an upload of the same name."""


class Receipt(Table):
    """What a document leaves: written by the transaction that removed it, signed once all stores were seen empty.

    Until then it is the tombstone that the sweep finishes. It has no foreign key: it outlives its subject.
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
    """Of the knowledge base, the last one it had: they may read the receipt also when it is gone."""
    document_id: Mapped[UUID]
    document_name: Mapped[str]
    move: Mapped[str]
    actor: Mapped[str]
    event_id: Mapped[UUID]
    """The line of the audit trail that says who did it."""
    found: Mapped[dict[str, Any]]
    """What was there: counts, keys and hashes, no text."""
    created_at: Mapped[datetime] = created_at_column()
    points: Mapped[int | None]
    """In an index of another engine, counted just before they were removed."""
    pending: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    """What the last look could not see empty."""
    attempts: Mapped[int] = mapped_column(server_default="0")
    next_attempt_at: Mapped[datetime]
    record: Mapped[dict[str, Any] | None]
    """Exactly what was signed."""
    signature: Mapped[str | None]
    signed_at: Mapped[datetime | None]
