"""How much is being processed, and how much was spared."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.processing.tables import ProcessingRun

HOURS = 24


@dataclass(frozen=True)
class Count:
    hour: datetime | None
    """In which the runs ended; `None` for those that have not."""
    status: str
    runs: int


@dataclass(frozen=True)
class Savings:
    documents: int
    seconds_saved: float
    since: datetime


class StatisticsRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def counts(self, since: datetime) -> Sequence[Count]:
        """Of the whole installation for an operator; nothing for anybody else."""
        rows = await self._session.execute(text("SELECT * FROM processing_counts(:since)"), {"since": since})
        return [Count(row.hour, row.status, row.runs) for row in rows]

    async def savings(self) -> Savings | None:
        """Over the documents that the caller may see; `None` when nothing was spared yet."""
        spared = select(
            func.count(ProcessingRun.document_id.distinct()),
            func.sum(ProcessingRun.saved_seconds),
            func.min(ProcessingRun.created_at),
        ).where(ProcessingRun.saved_seconds.is_not(None))
        documents, seconds, since = (await self._session.execute(spared)).one()
        return Savings(documents, seconds or 0.0, since) if documents else None


def first_hour(now: datetime) -> datetime:
    """Of a day's worth of hours, the running one included."""
    return now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)
