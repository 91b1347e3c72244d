"""Pause a worker just before one of its effects and continue it later."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.util.concurrency import await_only

from tests.faults.effects import Effect, RunEffectRecorder
from tests.faults.harness import FaultHarness

PATIENCE_SECONDS = 60


@dataclass
class Pause:
    at: int
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, number: int, _effect: Effect) -> None:
        if number == self.at:
            self.begun.set()
            await_only(self.over.wait())


@asynccontextmanager
async def held_up(
    fault_env: FaultHarness, document_id: UUID, effects: RunEffectRecorder, pause: Pause
) -> AsyncIterator[asyncio.Task[None]]:
    """Pause the worker for the duration of the block or until it is released; wait for its end."""
    working = asyncio.create_task(fault_env.work_off(document_id, effects))
    try:
        await asyncio.wait_for(pause.begun.wait(), PATIENCE_SECONDS)
        yield working
    finally:
        pause.over.set()
        await asyncio.wait_for(working, PATIENCE_SECONDS)
