"""Run history of a document, and statistics of the queue and of reused work."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import case, func, select, text
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.runs import ProcessingRun
from muniment.processing.runs.tables import FORMER_STEPS, STEP_ORDER, ProcessingStep

RunWithSteps = tuple[ProcessingRun, Sequence[ProcessingStep]]


class RunHistoryRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(self, document_id: UUID, *, offset: int, limit: int) -> tuple[Sequence[RunWithSteps], int]:
        """Return the runs of a document, newest first."""
        of_document = select(ProcessingRun).where(ProcessingRun.document_id == document_id)
        total = await self._session.scalar(select(func.count()).select_from(of_document.subquery()))
        # One run for each epoch, and epochs only grow.
        page = of_document.order_by(ProcessingRun.epoch.desc()).offset(offset).limit(limit)
        runs = (await self._session.scalars(page)).all()
        steps = await self._list_steps([run.run_id for run in runs])
        return [(run, steps[run.run_id]) for run in runs], total or 0

    async def _list_steps(self, run_ids: Sequence[UUID]) -> defaultdict[UUID, list[ProcessingStep]]:
        step_name = case(FORMER_STEPS, value=ProcessingStep.step_name, else_=ProcessingStep.step_name)
        in_order = func.array_position(array(STEP_ORDER), step_name)
        of_runs = select(ProcessingStep).where(ProcessingStep.run_id.in_(run_ids)).order_by(in_order)
        grouped: defaultdict[UUID, list[ProcessingStep]] = defaultdict(list)
        for step in await self._session.scalars(of_runs):
            grouped[step.run_id].append(step)
        return grouped


WINDOW_HOURS = 24


@dataclass(frozen=True)
class RunCount:
    hour: datetime | None
    """Hour in which the runs ended, or `None` for those that have not."""
    status: str
    runs: int


@dataclass(frozen=True)
class ReuseSavings:
    documents: int
    seconds_saved: float
    since: datetime


class StatisticsRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def count_runs(self, since: datetime) -> Sequence[RunCount]:
        """Count the runs of the whole installation for an operator; return nothing for anyone else."""
        rows = await self._session.execute(text("SELECT * FROM processing_counts(:since)"), {"since": since})
        return [RunCount(row.hour, row.status, row.runs) for row in rows]

    async def find_savings(self) -> ReuseSavings | None:
        """Return the time saved over all documents the caller may see, or `None` if nothing was saved yet."""
        spared = select(
            func.count(ProcessingRun.document_id.distinct()),
            func.sum(ProcessingRun.saved_seconds),
            func.min(ProcessingRun.created_at),
        ).where(ProcessingRun.saved_seconds.is_not(None))
        documents, seconds, since = (await self._session.execute(spared)).one()
        return ReuseSavings(documents, seconds or 0.0, since) if documents else None


def statistics_window_start(now: datetime) -> datetime:
    """Return the first hour of the statistics: one day, including the current hour."""
    return now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=WINDOW_HOURS - 1)
