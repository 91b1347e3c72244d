"""Progress of documents, as users see it. Row level security shows only what the caller may see."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.repository import BASIC_COMPLETE, NO_PASSAGES, PassageCount, PassageCountRepository
from muniment.documents.runs import ProcessingRun, RunStatus
from muniment.documents.tables import Document, Status
from muniment.processing.runs.tables import ProcessingStep, StepStatus

UNFINISHED_STATUSES = (Status.PENDING, Status.PROCESSING)
OPEN_RUN_STATUSES = (RunStatus.QUEUED, RunStatus.IN_PROGRESS)


@dataclass(frozen=True)
class DocumentProgress:
    document_id: UUID
    kb_id: UUID
    name: str
    status: str
    processing_status: str | None
    step: str | None
    page: int | None
    pages: int | None
    total_pages: int | None
    last_error: str | None
    purpose: str | None
    """Purpose of the open run, or `None` if there is none."""
    passages: int = 0
    passages_embedded: int = 0
    """Those of the passages that have vectors."""

    @property
    def is_unfinished(self) -> bool:
        return self.status in UNFINISHED_STATUSES or self.purpose is not None


class ProgressRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_documents(self, document_ids: Collection[UUID]) -> Sequence[DocumentProgress]:
        """Return the progress of those documents that the caller may see."""
        rows = await self._session.execute(_select_progress().where(Document.id.in_(document_ids)))
        return await self._with_passages([_from_row(row) for row in rows])

    async def list_unfinished(self, *, limit: int) -> tuple[Sequence[DocumentProgress], bool]:
        """Return the newest unfinished documents, and whether there are more."""
        with_open_run = select(ProcessingRun.document_id).where(ProcessingRun.status.in_(OPEN_RUN_STATUSES))
        waiting = select(Document.id).where(Document.status.in_(UNFINISHED_STATUSES))
        newest = _select_progress().where(Document.id.in_(with_open_run.union(waiting)))
        newest = newest.where(Document.status.in_(UNFINISHED_STATUSES) | ProcessingRun.run_id.is_not(None))
        rows = await self._session.execute(
            newest.order_by(Document.created_at.desc(), Document.id.desc()).limit(limit + 1)
        )
        found = [_from_row(row) for row in rows]
        return await self._with_passages(found[:limit]), len(found) > limit

    async def _with_passages(self, found: Sequence[DocumentProgress]) -> Sequence[DocumentProgress]:
        """Add how far completed documents are indexed."""
        completed = [each.document_id for each in found if each.processing_status == BASIC_COMPLETE]
        counts = await PassageCountRepository(self._session).list_(completed) if completed else {}
        return [_with_count(each, counts.get(each.document_id, NO_PASSAGES)) for each in found]


def _with_count(document: DocumentProgress, count: PassageCount) -> DocumentProgress:
    return replace(
        document,
        processing_status=count.derive_processing_status(document.processing_status),
        passages=count.passages,
        passages_embedded=count.passages_embedded,
    )


def _select_progress() -> Select[*tuple[Any, ...]]:
    # A run of an older epoch has ended, whatever its status: nobody can write for it any more.
    open_run = and_(
        ProcessingRun.document_id == Document.id,
        ProcessingRun.epoch == Document.epoch,
        ProcessingRun.status.in_(OPEN_RUN_STATUSES),
    )
    last_step = and_(ProcessingStep.run_id == ProcessingRun.run_id, ProcessingStep.step_name == ProcessingRun.last_step)
    return (
        select(
            Document.id,
            Document.kb_id,
            Document.name,
            Document.status,
            Document.processing_status,
            Document.total_pages,
            Document.last_error,
            ProcessingRun.last_step,
            ProcessingRun.purpose,
            ProcessingStep.status.label("step_status"),
            ProcessingStep.state_snapshot,
        )
        .outerjoin(ProcessingRun, open_run)
        .outerjoin(ProcessingStep, last_step)
    )


def _from_row(row: Row[Any]) -> DocumentProgress:
    page, pages = step_progress(row.step_status, row.state_snapshot)
    return DocumentProgress(
        document_id=row.id,
        kb_id=row.kb_id,
        name=row.name,
        status=row.status,
        processing_status=row.processing_status,
        step=row.last_step,
        page=page,
        pages=pages,
        total_pages=row.total_pages,
        last_error=row.last_error,
        purpose=row.purpose,
    )


def step_progress(status: str | None, snapshot: dict[str, Any] | None) -> tuple[int | None, int | None]:
    """Return the page progress of a step in progress, without the rest of its snapshot."""
    if status != StepStatus.STARTED or snapshot is None:
        return None, None
    return snapshot.get("page"), snapshot.get("pages")
