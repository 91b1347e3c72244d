"""Table of the index intents: changes of the external index whose outcome is not confirmed
(docs/design.md#index-intents).
"""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column


class IntendedState(StrEnum):
    """State of a document's points that a change leads to."""

    VISIBLE = "visible"
    HIDDEN = "hidden"
    GONE = "gone"


class IndexIntent(Table):
    """A change of the external index. While it exists, the state of the document's points is unknown.

    There is one per document: no other move begins before the outcome of the last one is known. It has no foreign key,
    because it outlives a purged document.
    """

    __tablename__ = "index_intents"
    __table_args__ = (
        CheckConstraint("wanted IN ('visible', 'hidden', 'gone')", name="wanted_known"),
        Index("ix_index_intents_due", "organization_id", "next_attempt_at"),
    )

    document_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID]
    """Changes when another intent replaces this one."""
    organization_id: Mapped[UUID]
    kb_id: Mapped[UUID] = mapped_column("knowledge_base_id")
    wanted: Mapped[str]
    """What the move intended. The sweep applies what the document's row says by then."""
    epoch: Mapped[int]
    created_at: Mapped[datetime] = created_at_column()
    attempts: Mapped[int] = mapped_column(server_default="0")
    """Attempts of the sweep. After the first one, the move that wrote the intent can no longer close it."""
    next_attempt_at: Mapped[datetime]
