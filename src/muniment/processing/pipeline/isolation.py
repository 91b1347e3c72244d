"""Let a suspect run have its worker process for itself, without starving it or the others."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from muniment.storage.tasks.port import RetryLater

HOLD_SECONDS = 5
"""How long an ordinary run waits for the end of an isolated one. Then it goes back to the queue, where another worker
finds it; sooner, the whole queue would be fetched and put back again and again."""
RETRY_SECONDS = 1


class IsolationGate:
    """Admits any number of ordinary runs of this process, or one isolated run and nothing else."""

    def __init__(self) -> None:
        self._ordinary = 0
        self._isolations = 0
        """Isolated runs that wait or run. While there are any, no ordinary run begins."""
        self._is_isolated = False
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def ordinary(self) -> AsyncIterator[None]:
        """Run beside others. Raise `RetryLater` if an isolated run takes long."""
        try:
            async with asyncio.timeout(HOLD_SECONDS):
                await self._wait_until(lambda: self._isolations == 0)
        except TimeoutError:
            raise RetryLater(RETRY_SECONDS) from None
        self._ordinary += 1
        try:
            yield
        finally:
            self._ordinary -= 1
            self._changed.set()

    @asynccontextmanager
    async def isolated(self) -> AsyncIterator[None]:
        """Run alone: wait until all others have ended, and let none begin."""
        self._isolations += 1
        try:
            await self._wait_until(lambda: self._ordinary == 0 and not self._is_isolated)
            self._is_isolated = True
            try:
                yield
            finally:
                self._is_isolated = False
        finally:
            self._isolations -= 1
            self._changed.set()

    async def _wait_until(self, is_free: Callable[[], bool]) -> None:
        while not is_free():
            self._changed.clear()
            await self._changed.wait()
