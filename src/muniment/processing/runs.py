"""Claiming a run, and the fence that keeps a late worker from writing (DESIGN §5.4)."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Document
from muniment.errors import MunimentError
from muniment.processing.tables import ProcessingRun, RunStatus


class Superseded(MunimentError):
    """Somebody else has this document now"""


@dataclass(frozen=True)
class ClaimedRun:
    run_id: UUID
    organization_id: UUID
    document_id: UUID
    epoch: int
    attempt: int


class RunRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim(self, run_id: UUID) -> ClaimedRun | None:
        """Take the run, or take it over: the attempt grows, and an earlier worker's fence no longer holds.

        `None` when it has ended, or when the document has moved on to another epoch.
        """
        open_run = (
            ProcessingRun.run_id == run_id,
            ProcessingRun.status.in_((RunStatus.QUEUED, RunStatus.IN_PROGRESS)),
            Document.id == ProcessingRun.document_id,
            Document.epoch == ProcessingRun.epoch,
        )
        row = (
            await self._session.execute(
                update(ProcessingRun)
                .where(*open_run)
                .values(attempt=ProcessingRun.attempt + 1, status=RunStatus.IN_PROGRESS)
                .returning(
                    ProcessingRun.run_id,
                    ProcessingRun.organization_id,
                    ProcessingRun.document_id,
                    ProcessingRun.epoch,
                    ProcessingRun.attempt,
                )
                .execution_options(synchronize_session=False)
            )
        ).one_or_none()
        return ClaimedRun(*row) if row else None

    async def hold(self, run: ClaimedRun) -> Document:
        """The fence, first statement of every worker transaction: from here to the commit nobody can move the document.

        A plain `WHERE epoch = …` would not do: the lock of a foreign key lets a cancel commit in between.
        """
        document = await self._session.scalar(
            select(Document)
            .where(Document.id == run.document_id, Document.epoch == run.epoch)
            .with_for_update(key_share=True)
        )
        attempt = await self._session.scalar(
            select(ProcessingRun.attempt).where(ProcessingRun.run_id == run.run_id).with_for_update()
        )
        if document is None or attempt != run.attempt:
            raise Superseded
        return document
