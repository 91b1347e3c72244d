"""Submit older documents that were never handed over (docs/contracts.md#backfill).

Progress is stored on the documents themselves, so that an interrupted backfill continues where it stopped.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import structlog
from sqlalchemy import Select, func, or_, select

from muniment.documents.handover_status import HandoverStatus
from muniment.documents.media_types.types import PDF
from muniment.documents.tables import Document
from muniment.errors import MunimentError
from muniment.handover.submission import HANDOVER_STATUSES, DocumentHandover, QueueWriteFailed
from muniment.storage.db.principal import Service
from muniment.storage.db.work import list_organizations

log = structlog.get_logger()

BATCH_SIZE = 100
MAX_CONSECUTIVE_FAILURES = 3
"""Failures in a row after which the queue is taken to be down."""


@dataclass(frozen=True)
class BackfillFilter:
    """Restricts a backfill to knowledge bases (all if empty) and to documents uploaded since a time."""

    kb_ids: Sequence[UUID] = field(default_factory=tuple)
    since: datetime | None = None


ALL_DOCUMENTS = BackfillFilter()


@dataclass(frozen=True)
class BackfillProgress:
    """Progress of a backfill. The fields are those of `--json`."""

    total: int
    handed_over: int = 0
    failed: int = 0
    is_interrupted: bool = False
    """The queue does not respond. Run the backfill again later."""


@dataclass(frozen=True)
class Backfill:
    """Submits documents that were never handed over, of all organizations."""

    documents: DocumentHandover
    criteria: BackfillFilter = ALL_DOCUMENTS

    async def count(self) -> int:
        """Count the completed or archived PDFs that were never handed over, or whose hand-over failed."""
        total = 0
        for organization_id in await list_organizations(self.documents.submissions.database):
            async with self.documents.submissions.database.service_work(Service(organization_id)) as work:
                query = _select_documents(self.criteria).with_only_columns(func.count()).order_by(None)
                total += (await work.session.scalar(query)) or 0
        return total

    async def run(self) -> AsyncIterator[BackfillProgress]:
        """Submit the documents one after the other, and yield the progress after each."""
        progress, failures_in_row = BackfillProgress(await self.count()), 0
        for organization_id in await list_organizations(self.documents.submissions.database):
            async for document_id in self._iter_ids(organization_id):
                try:
                    await self.documents.submit(organization_id, document_id)
                except MunimentError as error:
                    log.warning("handover.backfill_failed", document_id=str(document_id), error=error.message)
                    progress = replace(progress, failed=progress.failed + 1)
                    failures_in_row = failures_in_row + 1 if isinstance(error, QueueWriteFailed) else 0
                else:
                    progress, failures_in_row = replace(progress, handed_over=progress.handed_over + 1), 0
                if failures_in_row == MAX_CONSECUTIVE_FAILURES:
                    yield replace(progress, is_interrupted=True)
                    return
                yield progress

    async def _iter_ids(self, organization_id: UUID) -> AsyncIterator[UUID]:
        """Yield the ids of the documents, oldest first. Each document is tried once."""
        last_id: UUID | None = None
        while True:
            async with self.documents.submissions.database.service_work(Service(organization_id)) as work:
                query = _select_documents(self.criteria)
                if last_id is not None:
                    query = query.where(Document.id > last_id)
                page = (await work.session.scalars(query.limit(BATCH_SIZE))).all()
            if not page:
                return
            for document_id in page:
                yield document_id
            last_id = page[-1]


def _select_documents(criteria: BackfillFilter) -> Select[UUID]:
    query = select(Document.id).where(
        Document.status.in_(HANDOVER_STATUSES),
        Document.media_type == PDF.media_type,
        or_(Document.archive_status.is_(None), Document.archive_status == HandoverStatus.FAILED),
    )
    if criteria.kb_ids:
        query = query.where(Document.kb_id.in_(criteria.kb_ids))
    if criteria.since:
        query = query.where(Document.created_at >= criteria.since)
    return query.order_by(Document.id)
