"""Table of processing runs. Claims, fences and steps belong to `processing.runs`."""

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
    """Why a run was queued. The values are stored."""

    FIRST = "first"
    REREAD = "reread"


class RunStatus(StrEnum):
    """Status of a run. The values are stored."""

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
    """Publish the results again although the document already shows them."""
    algorithm_version: Mapped[int | None]
    """Requested extraction version. Null for the newest."""
    artifact_text_id: Mapped[UUID | None] = mapped_column(ForeignKey(TextArtifact.id))
    """The text that this run reuses or has computed. Protects it from garbage collection until the run ends."""
    failures: Mapped[int] = mapped_column(server_default="0")
    """How often a worker or reader process died during the run."""
    saved_seconds: Mapped[float | None]
    """Computing time saved by reusing results of another document of the same organization."""
    last_step: Mapped[str | None]
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    ended_at: Mapped[datetime | None]
