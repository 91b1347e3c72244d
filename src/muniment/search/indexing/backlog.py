"""The embedding backlog: passages that have no vector yet, in the whole installation."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.telemetry.metrics import EMBEDDING_BACKLOG_OLDEST_SECONDS, EMBEDDING_BACKLOG_PASSAGES

_COUNT = text("SELECT passages, oldest_at, error FROM count_embedding_backlog()")


@dataclass(frozen=True)
class EmbeddingBacklog:
    """How many passages wait for their vectors, and for how long."""

    passages: int
    oldest_at: datetime | None
    """When the oldest text with missing vectors was indexed."""
    error: str | None
    """Why vectors are late, if the last attempt to compute some failed."""

    def oldest_seconds(self, at: datetime) -> float:
        """Return the age of the oldest text, or zero without a backlog."""
        return max(0.0, (at - self.oldest_at).total_seconds()) if self.oldest_at else 0.0


async def count_backlog(session: AsyncSession) -> EmbeddingBacklog:
    """Count the backlog of all organizations. Users other than operators see none."""
    return EmbeddingBacklog(*(await session.execute(_COUNT)).one())


@dataclass(frozen=True)
class EmbeddingBacklogSweep:
    """Measures the backlog, and resumes runs whose vectors were completed while they were being requeued."""

    database: Database

    async def sweep(self) -> None:
        async with self.database.service_work(Service()) as work:
            await work.session.execute(select(func.resume_waiting_runs()))
            backlog = await count_backlog(work.session)
        EMBEDDING_BACKLOG_PASSAGES.set(backlog.passages)
        EMBEDDING_BACKLOG_OLDEST_SECONDS.set(backlog.oldest_seconds(now()))
