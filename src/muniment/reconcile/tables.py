from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, SmallInteger
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class ReconcileReport(Table):
    """Result of one reconciliation of the installation as counts, without documents, names or organizations."""

    __tablename__ = "reconcile_reports"
    __table_args__ = (CheckConstraint("outcome IN (0, 1, 2)", name="outcome_known"), Index(None, "ended_at"))

    id: Mapped[UUID] = id_column()
    began_at: Mapped[datetime]
    ended_at: Mapped[datetime] = created_at_column()
    is_repair: Mapped[bool]
    outcome: Mapped[int] = mapped_column(SmallInteger)
    counts: Mapped[list[dict[str, Any]]] = mapped_column(JSONB(none_as_null=True))
    """Found, repaired and remaining drift per store and kind."""
