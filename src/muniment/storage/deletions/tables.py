"""Table of the deletion ledger (docs/design.md#ledger)."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class LedgerStore(StrEnum):
    """Stores from which ledger entries delete."""

    OBJECTS = "blobs"
    ARTIFACTS = "artifacts"
    """Deleted only if nothing references the artifact."""
    QUEUE = "queue"
    DEAD_LETTERS = "dead_letters"
    """Deleted, like a queued job, only if no other document has the same bytes there."""


class DeletionOutcome(StrEnum):
    """Outcome of a processed entry."""

    DELETED = "erased"
    RETAINED = "kept"
    """Not deleted, because it is in use elsewhere."""


RESERVATION = "never_kept"
"""Reason of an entry that is written before its object, in case it is never confirmed (`ledger.py`)."""


class LedgerEntry(Table):
    """One object to be deleted from one store, written by the transaction that deleted its row.

    It names exactly one object, so that an entry that is processed late cannot hit a newer revision. It has no foreign
    key, because the document is gone.
    """

    __tablename__ = "deletions"
    __table_args__ = (
        CheckConstraint("store IN ('blobs', 'artifacts', 'queue', 'dead_letters')", name="store_known"),
        CheckConstraint("outcome IN ('erased', 'kept')", name="outcome_known"),
        Index("ix_deletions_due", "organization_id", "next_attempt_at", postgresql_where=text("done_at IS NULL")),
        Index(None, "document_id"),
        Index(
            "ix_deletions_reserved",
            "organization_id",
            postgresql_where=text("reason = 'never_kept' AND done_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = id_column()
    organization_id: Mapped[UUID]
    kb_id: Mapped[UUID | None] = mapped_column("knowledge_base_id")
    document_id: Mapped[UUID | None]
    store: Mapped[str]
    target: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()
    attempts: Mapped[int] = mapped_column(server_default="0")
    last_error: Mapped[str | None]
    next_attempt_at: Mapped[datetime] = created_at_column()
    done_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
