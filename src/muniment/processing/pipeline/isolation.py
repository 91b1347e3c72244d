"""Let a suspect run have its worker process for itself, without starving it or the others."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from muniment.storage.tasks.port import RetryLater, Turn

HOLD_SECONDS = 5
"""How long a run waits for the end of an isolated one. Then it goes back to the queue, where another worker finds it;
sooner, the whole queue would be fetched and put back again and again."""
RETRY_SECONDS = 1
TURN_SECONDS = 1
"""How long an isolated run goes on while others wait for it, and they while it waits."""

IsAwaited = Callable[[], bool]
"""Returns whether other runs of this process wait for the end of this one."""


class IsolationGate:
    """Admits any number of ordinary runs of this process, or one isolated run and nothing else.

    Ordinary and isolated runs take turns: those that have waited for an isolated run go before the next isolated one,
    and while one waits, no further ordinary run begins.
    """

    def __init__(self) -> None:
        self._ordinary = 0
        self._isolations = 0
        """Isolated runs that wait or run."""
        self._is_isolated = False
        self._ended_isolations = 0
        self._waiting: list[int] = []
        """For each ordinary run that waits, how many isolated runs had ended when it came."""
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def ordinary(self) -> AsyncIterator[IsAwaited]:
        """Run beside others. Raise `RetryLater` if an isolated run takes long."""
        arrived = self._ended_isolations
        self._waiting.append(arrived)
        try:
            async with asyncio.timeout(HOLD_SECONDS):
                await self._wait_until(
                    lambda: not self._is_isolated and (self._isolations == 0 or self._ended_isolations > arrived)
                )
            self._ordinary += 1
        except TimeoutError:
            raise RetryLater(RETRY_SECONDS) from None
        finally:
            self._waiting.remove(arrived)
            self._changed.set()
        try:
            yield lambda: self._isolations > 0
        finally:
            self._ordinary -= 1
            self._changed.set()

    @asynccontextmanager
    async def isolated(self) -> AsyncIterator[IsAwaited]:
        """Run alone: wait until all others have ended, and let none begin.

        Raise `RetryLater` if another isolated run takes long: slots in which suspects wait for each other are missing.
        """
        self._isolations += 1
        try:
            await self._wait_for_isolation()
            self._is_isolated = True
            try:
                yield lambda: self._isolations > 1 or bool(self._waiting)
            finally:
                self._is_isolated = False
                self._ended_isolations += 1
        finally:
            self._isolations -= 1
            self._changed.set()

    def _may_isolate(self) -> bool:
        is_next_ordinary = any(arrived < self._ended_isolations for arrived in self._waiting)
        return self._ordinary == 0 and not self._is_isolated and not is_next_ordinary

    async def _wait_for_isolation(self) -> None:
        hold_until = asyncio.get_running_loop().time() + HOLD_SECONDS
        while not self._may_isolate():
            try:
                async with asyncio.timeout_at(hold_until if self._is_isolated else None):
                    self._changed.clear()
                    await self._changed.wait()
            except TimeoutError:
                raise RetryLater(RETRY_SECONDS) from None

    async def _wait_until(self, is_free: Callable[[], bool]) -> None:
        while not is_free():
            self._changed.clear()
            await self._changed.wait()


class GateTurn:
    """Turn of a run that other runs may wait for at the gate. They hold a slot, so that the queue does not know."""

    def __init__(self, turn: Turn, is_awaited: IsAwaited) -> None:
        self._turn = turn
        self._is_awaited = is_awaited
        self._ends_at = time.monotonic() + TURN_SECONDS

    async def is_over(self) -> bool:
        """Return whether the run should give up its slot, to another organization or to those at the gate."""
        is_over = await self._turn.is_over()  # asked each time, because it charges what was used
        return is_over or (time.monotonic() >= self._ends_at and self._is_awaited())
