from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class AuditEvent(Table):
    """What was done, written with the change and never altered. It has no foreign key: it outlives its subject."""

    __tablename__ = "audit_events"
    __table_args__ = (
        Index(None, "organization_id", "at"),
        Index(None, "document_id"),
        Index(None, "knowledge_base_id", "at"),
    )

    id: Mapped[UUID] = id_column()
    at: Mapped[datetime] = created_at_column()
    action: Mapped[str]
    actor: Mapped[str]
    organization_id: Mapped[UUID | None]
    kb_id: Mapped[UUID | None] = mapped_column("knowledge_base_id")
    document_id: Mapped[UUID | None]
    address: Mapped[str | None]
    payload: Mapped[dict[str, Any]] = mapped_column(JSONB)
