"""Table of the intents: changes of the external index that are not yet known to be complete (docs/design.md#index-intents)."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column


class IntendedState(StrEnum):
    VISIBLE = "visible"
    HIDDEN = "hidden"
    GONE = "gone"


class IndexIntent(Table):
    """What the index is about to be told of a document; while it stands, nobody knows what the index holds.

    One per document: no other move begins before the outcome of the last is known. It has no foreign key: it outlives
    a document that is purged.
    """

    __tablename__ = "index_intents"
    __table_args__ = (
        CheckConstraint("wanted IN ('visible', 'hidden', 'gone')", name="wanted_known"),
        Index("ix_index_intents_due", "organization_id", "next_attempt_at"),
    )

    document_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID]
    """Of this intent: one that took its place is another."""
    organization_id: Mapped[UUID]
    kb_id: Mapped[UUID] = mapped_column("knowledge_base_id")
    wanted: Mapped[str]
    """What the move was for. What the sweep tells the index is what the document's row says by then."""
    epoch: Mapped[int]
    created_at: Mapped[datetime] = created_at_column()
    attempts: Mapped[int] = mapped_column(server_default="0")
    """Of the sweep: from the first on, the intent is not its writer's any more."""
    next_attempt_at: Mapped[datetime]
