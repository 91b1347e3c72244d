"""Steps of a processing run, and the order of the nodes."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
)
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column

STEP_ORDER = (
    "FetchDocumentRecord",
    "AlreadyProcessedCheck",
    "MarkProcessingStarted",
    "ExtractText",
    "SavePages",
    "SaveParagraphs",
    "AggregateDiagrams",
    "SaveDiagrams",
    "IndexText",
    "UpdateMetrics",
    "MarkBasicComplete",
)
"""Order of the nodes, in which steps are also listed: their times would reveal whether the content was known before."""

FORMER_STEPS = {"Index": "IndexText"}
"""Steps of runs that began with an earlier version, and the node that has taken the place of each."""


class StepStatus(StrEnum):
    STARTED = "started"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"


class ProcessingStep(Table):
    """Step of a run. Users see `success`, never whether the result was computed or reused."""

    __tablename__ = "document_processing_steps"
    __table_args__ = (CheckConstraint("status IN ('started','success','failed','skipped')", name="status_known"),)

    run_id: Mapped[UUID] = mapped_column(
        ForeignKey("document_processing_runs.run_id", ondelete="CASCADE"), primary_key=True
    )
    organization_id: Mapped[UUID]
    step_name: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[str]
    state_snapshot: Mapped[dict[str, Any] | None]
    error: Mapped[dict[str, Any] | None]
    started_at: Mapped[datetime] = created_at_column()
    completed_at: Mapped[datetime | None]
