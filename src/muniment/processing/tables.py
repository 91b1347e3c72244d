from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, new_id


class RunStatus(StrEnum):
    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class Purpose(StrEnum):
    FIRST = "first"
    REREAD = "reread"


class ProcessingRun(Table):
    """One pass over one document (specs/artifacts.md §6.3). `attempt` counts the workers that claimed it."""

    __tablename__ = "document_processing_runs"
    __table_args__ = (
        ForeignKeyConstraint(
            ["document_id", "organization_id"], ["documents.id", "documents.organization_id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(["user_id", "organization_id"], ["users.id", "users.organization_id"]),
        UniqueConstraint("document_id", "epoch"),
        CheckConstraint("status IN ('queued','in_progress','completed','failed')", name="status_known"),
        CheckConstraint("purpose IN ('first', 'reread')", name="purpose_known"),
        Index(None, "status"),
    )

    run_id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    document_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    user_id: Mapped[UUID]
    epoch: Mapped[int]
    revision: Mapped[int]
    purpose: Mapped[str] = mapped_column(server_default=Purpose.FIRST)
    status: Mapped[str] = mapped_column(server_default=RunStatus.QUEUED)
    attempt: Mapped[int] = mapped_column(server_default="0")
    job_id: Mapped[int | None] = mapped_column(BigInteger)
    last_step: Mapped[str | None]
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
