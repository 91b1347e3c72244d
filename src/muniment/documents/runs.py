"""Processing runs of documents: their table, and queries on runs that have not ended.

Claims, fences and steps are in `processing.runs`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
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
    yields: Mapped[int] = mapped_column(server_default="0")
    """How often it gave up its slot to another organization. Not counted as attempts where they are shown."""
    job_id: Mapped[int | None] = mapped_column(BigInteger)
    force: Mapped[bool] = mapped_column(server_default="false")
    """Publish the results again although the document already shows them."""
    algorithm_version: Mapped[int | None]
    """Requested extraction version. Null for the newest."""
    artifact_text_id: Mapped[UUID | None] = mapped_column(ForeignKey(TextArtifact.id))
    """The text that this run reuses or has computed. Protects it from garbage collection until the run ends."""
    failures: Mapped[int] = mapped_column(server_default="0")
    """How often a worker or reader process died during the run. Only the previous version decides by it."""
    worker_id: Mapped[UUID | None]
    """The worker that claimed it last. Null if that worker has put it back, or is of the previous version."""
    is_isolated: Mapped[bool] = mapped_column(server_default="false")
    """Whether that worker processes nothing else meanwhile."""
    deaths: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    """Processes that died during the run (`processing.runs.deaths`)."""
    internal_errors: Mapped[int] = mapped_column(server_default="0")
    """How often the run was requeued after an error that neither its file nor an outage explains."""
    saved_seconds: Mapped[float | None]
    """Computing time saved by reusing results of another document of the same organization."""
    last_step: Mapped[str | None]
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    ended_at: Mapped[datetime | None]


OPEN_STATUSES = (RunStatus.QUEUED, RunStatus.IN_PROGRESS)


_OPEN_RUNS = """
      FROM document_processing_runs r JOIN documents d ON d.id = r.document_id
     WHERE r.status IN ('queued', 'in_progress')
"""
_LIST_OPEN_RUNS = text(f"""
    SELECT r.run_id, d.knowledge_base_id, d.id {_OPEN_RUNS}
       AND r.run_id = ANY(:run_ids) AND d.knowledge_base_id = ANY(:kb_ids) ORDER BY r.run_id
""")
_LOCK_OPEN_RUN = text(f"SELECT r.epoch = d.epoch {_OPEN_RUNS} AND r.run_id = :run_id FOR NO KEY UPDATE OF d")
# Same end state as `revoke_run` writes.
_FAIL_SUPERSEDED = text("""
    UPDATE document_processing_runs
       SET status = 'failed', ended_at = clock_timestamp(), updated_at = now(), artifact_text_id = NULL,
           error = jsonb_build_object('code', 'superseded', 'message', 'Another run has taken over this document')
     WHERE run_id = :run_id
""")
_WITHOUT_RUN = """
    SELECT d.id, d.knowledge_base_id, d.epoch,
           EXISTS (SELECT FROM document_processing_runs r WHERE r.document_id = d.id AND r.epoch = d.epoch)
      FROM documents d
     WHERE d.status IN ('pending', 'processing') AND d.updated_at < :unchanged_since
       AND NOT EXISTS (SELECT FROM document_processing_runs r
                        WHERE r.document_id = d.id AND r.epoch = d.epoch AND r.status IN ('queued', 'in_progress'))
"""
_LIST_WITHOUT_RUN = text(f"{_WITHOUT_RUN} AND d.knowledge_base_id = ANY(:kb_ids) ORDER BY d.id")
_LOCK_WITHOUT_RUN = text(f"{_WITHOUT_RUN} AND d.id = :document_id FOR NO KEY UPDATE OF d")


@dataclass(frozen=True)
class OpenRun:
    """A run that has not ended, and its document."""

    run_id: UUID
    kb_id: UUID
    document_id: UUID


@dataclass(frozen=True)
class DocumentWithoutRun:
    """A document that waits for a run that was never queued or has ended."""

    document_id: UUID
    kb_id: UUID
    epoch: int
    had_run: bool
    """Whether this epoch has a run already; it cannot have another."""


class DocumentRunRepository:
    """Queries on runs for others than the worker that has claimed one."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_open(self, document_id: UUID, epoch: int) -> ProcessingRun | None:
        """Return the run of this epoch if it has not ended."""
        of_epoch = (ProcessingRun.document_id == document_id, ProcessingRun.epoch == epoch)
        return await self._session.scalar(
            select(ProcessingRun).where(*of_epoch, ProcessingRun.status.in_(OPEN_STATUSES))
        )

    async def count_ended(self, run_ids: Sequence[UUID]) -> Mapping[str, int]:
        """Return how many of these runs have ended, by status."""
        ended = select(ProcessingRun.status, func.count()).where(
            ProcessingRun.run_id.in_(run_ids), ProcessingRun.ended_at.is_not(None)
        )
        rows = await self._session.execute(ended.group_by(ProcessingRun.status))
        return dict(rows.all())

    async def list_open(self, kb_ids: Sequence[UUID], run_ids: Sequence[UUID]) -> Sequence[OpenRun]:
        """Return those of the runs whose documents are in these knowledge bases."""
        parameters = {"kb_ids": list(kb_ids), "run_ids": list(run_ids)}
        return [OpenRun(*row) for row in await self._session.execute(_LIST_OPEN_RUNS, parameters)]

    async def lock(self, run_id: UUID) -> bool | None:
        """Lock the document of the run until the transaction ends. Return whether the run is of the document's current
        epoch, or `None` if it has ended."""
        is_current: bool | None = await self._session.scalar(_LOCK_OPEN_RUN, {"run_id": run_id})
        return is_current

    async def fail_superseded(self, run_id: UUID) -> None:
        """End a run of an older epoch."""
        await self._session.execute(_FAIL_SUPERSEDED, {"run_id": run_id})


class DocumentWithoutRunRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(self, kb_ids: Sequence[UUID], unchanged_since: datetime) -> Sequence[DocumentWithoutRun]:
        values = {"kb_ids": list(kb_ids), "unchanged_since": unchanged_since}
        return [DocumentWithoutRun(*row) for row in await self._session.execute(_LIST_WITHOUT_RUN, values)]

    async def lock(self, document_id: UUID, unchanged_since: datetime) -> DocumentWithoutRun | None:
        values = {"document_id": document_id, "unchanged_since": unchanged_since}
        found = (await self._session.execute(_LOCK_WITHOUT_RUN, values)).one_or_none()
        return DocumentWithoutRun(*found) if found else None
