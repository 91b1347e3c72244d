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
"""A queue that fails so often in a row is down: it is not asked a thousand times over."""


@dataclass(frozen=True)
class BackfillFilter:
    """Which documents: those of these knowledge bases, or of all; those that came in since then."""

    kb_ids: Sequence[UUID] = field(default_factory=tuple)
    since: datetime | None = None


ALL_DOCUMENTS = BackfillFilter()


@dataclass(frozen=True)
class BackfillProgress:
    total: int
    handed_over: int = 0
    failed: int = 0
    is_interrupted: bool = False
    """The queue does not answer; begin again when it does."""


@dataclass(frozen=True)
class Backfill:
    documents: DocumentHandover
    criteria: BackfillFilter = ALL_DOCUMENTS

    async def count(self) -> int:
        """PDFs that are completed or archived and were never handed over, or failed to be."""
        total = 0
        for organization_id in await list_organizations(self.documents.submissions.database):
            async with self.documents.submissions.database.service_work(Service(organization_id)) as work:
                wanted = _select_documents(self.criteria).with_only_columns(func.count()).order_by(None)
                total += (await work.session.scalar(wanted)) or 0
        return total

    async def run(self) -> AsyncIterator[BackfillProgress]:
        """Hand them over, one after the other; how far it is, after each."""
        filled, refused = BackfillProgress(await self.count()), 0
        for organization_id in await list_organizations(self.documents.submissions.database):
            async for document_id in self._iter_ids(organization_id):
                try:
                    await self.documents.submit(organization_id, document_id)
                except MunimentError as error:
                    log.warning("archive.backfill_failed", document_id=str(document_id), error=error.message)
                    filled = replace(filled, failed=filled.failed + 1)
                    refused = refused + 1 if isinstance(error, QueueWriteFailed) else 0
                else:
                    filled, refused = replace(filled, handed_over=filled.handed_over + 1), 0
                if refused == MAX_CONSECUTIVE_FAILURES:
                    yield replace(filled, is_interrupted=True)
                    return
                yield filled

    async def _iter_ids(self, organization_id: UUID) -> AsyncIterator[UUID]:
        """In pages, oldest first: each document is tried once."""
        last: UUID | None = None
        while True:
            async with self.documents.submissions.database.service_work(Service(organization_id)) as work:
                following = (
                    _select_documents(self.criteria)
                    if last is None
                    else _select_documents(self.criteria).where(Document.id > last)
                )
                page = (await work.session.scalars(following.limit(BATCH_SIZE))).all()
            if not page:
                return
            for document_id in page:
                yield document_id
            last = page[-1]


def _select_documents(criteria: BackfillFilter) -> Select[UUID]:
    wanted = select(Document.id).where(
        Document.status.in_(HANDOVER_STATUSES),
        Document.media_type == PDF.media_type,
        or_(Document.archive_status.is_(None), Document.archive_status == HandoverStatus.FAILED),
    )
    if criteria.kb_ids:
        wanted = wanted.where(Document.kb_id.in_(criteria.kb_ids))
    if criteria.since:
        wanted = wanted.where(Document.created_at >= criteria.since)
    return wanted.order_by(Document.id)
