"""What a long step does between two parts of its result: report progress, and give up its slot to others."""

import time

from muniment.processing.pipeline.context import RunContext
from muniment.processing.runs.repository import RunRepository
from muniment.storage.tasks.port import GiveUpSlot

INTERVAL_SECONDS = 0.5


class ProgressReporter:
    """Reports the pages of a step to everyone who watches the document, at most twice a second."""

    def __init__(self, context: RunContext, step: str, total_pages: int) -> None:
        self._context = context
        self._step = step
        self._total_pages = total_pages
        self._reported_at = time.monotonic()

    async def report_page(self, page: int) -> None:
        """Report a page behind the fence, so that a run that was taken over stops here and not at its end."""
        if time.monotonic() - self._reported_at < INTERVAL_SECONDS:
            return
        snapshot = {"page": page, "pages": self._total_pages}
        async with self._context.progress_transaction(self._step, snapshot) as work:
            await RunRepository(work.session).announce_progress(self._context.run)
        self._reported_at = time.monotonic()


class StepTurn:
    """Turn of a long step, which begins when its first part arrives.

    The start of a step, such as opening a file, is repeated when the run continues later. The turn lasts at least as
    long as the start took, so that no more than half of the time is lost to it.
    """

    def __init__(self, context: RunContext, began: float) -> None:
        self._turn = context.turn
        at = time.monotonic()
        self._lasts_until = at + context.services.minimum_turn * (at - began)

    async def give_up_if_over(self) -> None:
        """Raise `GiveUpSlot` if the turn is over."""
        if time.monotonic() >= self._lasts_until and await self._turn.is_over():
            raise GiveUpSlot
