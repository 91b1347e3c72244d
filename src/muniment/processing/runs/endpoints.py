"""Endpoints of processing runs, the queue and savings."""

from uuid import UUID

from fastapi import APIRouter

from muniment.accounts.users import require_operator
from muniment.documents.repository import DocumentRepository
from muniment.errors import Forbidden
from muniment.http.dependencies import CurrentWork, Now
from muniment.http.pagination import PaginatedRead, Paging
from muniment.processing.runs.reporting import RunHistoryRepository, StatisticsRepository, statistics_window_start
from muniment.processing.runs.schemas import EmbeddingBacklogRead, QueueRead, RunRead, SavingsRead
from muniment.search.indexing.backlog import count_backlog

runs = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}/runs", tags=["processing"])
statistics = APIRouter(tags=["processing"])


@runs.get("")
async def list_runs(kb_id: UUID, doc_id: UUID, work: CurrentWork, paging: Paging) -> PaginatedRead[RunRead]:
    """List processing runs, newest first, each with its steps in order."""
    await DocumentRepository(work.session).get(kb_id, doc_id)
    found, total = await RunHistoryRepository(work.session).list_(doc_id, offset=paging.offset, limit=paging.limit)
    items = [RunRead.from_rows(run, steps) for run, steps in found]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@statistics.get("/processing/queue")
async def get_queue(work: CurrentWork, now: Now) -> QueueRead:
    """Return job counts of the whole installation, with the last 24 hours by hour, and the embedding backlog.

    Operators only.
    """
    require_operator(work.caller)
    counts = await StatisticsRepository(work.session).count_runs(statistics_window_start(now))
    backlog = EmbeddingBacklogRead.of(await count_backlog(work.session), now)
    return QueueRead.from_counts(counts, statistics_window_start(now), backlog)


@statistics.get("/artifacts/savings")
async def get_savings(work: CurrentWork) -> SavingsRead:
    """Return what your organization saved by reusing results of identical files. Admins only."""
    if not work.caller.is_admin:
        raise Forbidden
    return SavingsRead.from_savings(await StatisticsRepository(work.session).find_savings())
