"""The runs of a document, as people see them."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.processing.tables import STEPS, ProcessingRun, ProcessingStep

RunWithSteps = tuple[ProcessingRun, Sequence[ProcessingStep]]


class HistoryRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(self, document_id: UUID, *, offset: int, limit: int) -> tuple[Sequence[RunWithSteps], int]:
        """Newest first."""
        of_document = select(ProcessingRun).where(ProcessingRun.document_id == document_id)
        total = await self._session.scalar(select(func.count()).select_from(of_document.subquery()))
        # One run for each epoch, and epochs only grow.
        page = of_document.order_by(ProcessingRun.epoch.desc()).offset(offset).limit(limit)
        runs = (await self._session.scalars(page)).all()
        steps = await self._steps_of([run.run_id for run in runs])
        return [(run, steps[run.run_id]) for run in runs], total or 0

    async def _steps_of(self, run_ids: Sequence[UUID]) -> defaultdict[UUID, list[ProcessingStep]]:
        in_order = func.array_position(array(STEPS), ProcessingStep.step_name)
        of_runs = select(ProcessingStep).where(ProcessingStep.run_id.in_(run_ids)).order_by(in_order)
        grouped: defaultdict[UUID, list[ProcessingStep]] = defaultdict(list)
        for step in await self._session.scalars(of_runs):
            grouped[step.run_id].append(step)
        return grouped
