"""Processing runs of documents: the row, its statuses and purposes, and plain reads. Claims, fences and steps belong to
`processing.runs`.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from muniment.artifacts.tables import TextArtifact
from muniment.storage.db.base import Table, created_at_column, new_id


class RunPurpose(StrEnum):
    FIRST = "first"
    REREAD = "reread"


class RunStatus(StrEnum):
    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class ProcessingRun(Table):
    """One pass over one document (docs/contracts.md#run-tables). `attempt` counts the workers that claimed it."""

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
        Index(None, "ended_at"),
        Index(None, "artifact_text_id", postgresql_where=text("artifact_text_id IS NOT NULL")),
    )

    run_id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    document_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    user_id: Mapped[UUID]
    epoch: Mapped[int]
    revision: Mapped[int]
    purpose: Mapped[str] = mapped_column(server_default=RunPurpose.FIRST)
    status: Mapped[str] = mapped_column(server_default=RunStatus.QUEUED)
    attempt: Mapped[int] = mapped_column(server_default="0")
    job_id: Mapped[int | None] = mapped_column(BigInteger)
    force: Mapped[bool] = mapped_column(server_default="false")
    """Hydrate anew although the document was processed already."""
    algorithm_version: Mapped[int | None]
    """Another than the newest, if somebody asked for it."""
    artifact_text_id: Mapped[UUID | None] = mapped_column(ForeignKey(TextArtifact.id))
    """What this run found or made, held against the garbage collection until it ends."""
    failures: Mapped[int] = mapped_column(server_default="0")
    """How often a worker or a reader died over it."""
    saved_seconds: Mapped[float | None]
    """What it would have cost to compute, where a document of the same organization had paid for it."""
    last_step: Mapped[str | None]
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    ended_at: Mapped[datetime | None]
