"""Response bodies of processing runs and their statistics."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from muniment.documents.runs import ProcessingRun, RunPurpose, RunStatus
from muniment.processing.events.repository import step_progress
from muniment.processing.runs.reporting import WINDOW_HOURS, ReuseSavings, RunCount
from muniment.processing.runs.tables import ProcessingStep, StepStatus
from muniment.search.indexing.backlog import EmbeddingBacklog


class RunErrorRead(BaseModel):
    code: str
    message: str

    @classmethod
    def from_json(cls, error: Mapping[str, Any] | None) -> "RunErrorRead | None":
        return cls(code=error["code"], message=error["message"]) if error else None


class StepRead(BaseModel):
    name: str
    status: StepStatus
    started_at: datetime
    completed_at: datetime | None
    page: int | None
    pages: int | None
    error: RunErrorRead | None

    @classmethod
    def from_row(cls, step: ProcessingStep) -> "StepRead":
        page, pages = step_progress(step.status, step.state_snapshot)
        return cls(
            name=step.step_name,
            status=StepStatus(step.status),
            started_at=step.started_at,
            completed_at=step.completed_at,
            page=page,
            pages=pages,
            error=RunErrorRead.from_json(step.error),
        )


class RunRead(BaseModel):
    """Shows what was done, never whether results were computed or reused."""

    id: UUID
    purpose: RunPurpose
    status: RunStatus
    attempt: int
    revision: int
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    error: RunErrorRead | None
    steps: list[StepRead]

    @classmethod
    def from_rows(cls, run: ProcessingRun, steps: Sequence[ProcessingStep]) -> "RunRead":
        return cls(
            id=run.run_id,
            purpose=RunPurpose(run.purpose),
            status=RunStatus(run.status),
            # The yield of a run that waits is counted already; the attempt that continues it is not.
            attempt=max(min(run.attempt, 1), run.attempt - run.yields),
            revision=run.revision,
            created_at=run.created_at,
            updated_at=run.updated_at,
            ended_at=run.ended_at,
            error=RunErrorRead.from_json(run.error),
            steps=[StepRead.from_row(step) for step in steps],
        )


class HourRead(BaseModel):
    hour: datetime
    done: int
    failed: int


class EmbeddingBacklogRead(BaseModel):
    """Passages that only keywords find, because their vectors are not computed yet."""

    passages: int
    oldest_seconds: float = Field(description="Age of the oldest text among them. Zero without a backlog")
    error: str | None = Field(description="Why vectors are late, if the last attempt failed")

    @classmethod
    def of(cls, backlog: EmbeddingBacklog, at: datetime) -> "EmbeddingBacklogRead":
        return cls(passages=backlog.passages, oldest_seconds=backlog.oldest_seconds(at), error=backlog.error)


class QueueRead(BaseModel):
    waiting: int
    running: int
    done_last_day: int
    failed_last_day: int
    hours: list[HourRead]
    embedding: EmbeddingBacklogRead

    @classmethod
    def from_counts(cls, counts: Sequence[RunCount], since: datetime, embedding: EmbeddingBacklogRead) -> "QueueRead":
        known = {(count.hour, count.status): count.runs for count in counts}
        hours = [
            HourRead(
                hour=hour,
                done=known.get((hour, RunStatus.COMPLETED), 0),
                failed=known.get((hour, RunStatus.FAILED), 0),
            )
            for hour in (since + timedelta(hours=number) for number in range(WINDOW_HOURS))
        ]
        return cls(
            waiting=known.get((None, RunStatus.QUEUED), 0),
            running=known.get((None, RunStatus.IN_PROGRESS), 0),
            done_last_day=sum(hour.done for hour in hours),
            failed_last_day=sum(hour.failed for hour in hours),
            hours=hours,
            embedding=embedding,
        )


class SavingsRead(BaseModel):
    documents: int
    seconds_saved: float
    since: datetime | None

    @classmethod
    def from_savings(cls, savings: ReuseSavings | None) -> "SavingsRead":
        if savings is None:
            return cls(documents=0, seconds_saved=0, since=None)
        return cls(documents=savings.documents, seconds_saved=savings.seconds_saved, since=savings.since)
