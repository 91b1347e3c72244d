"""Limits of one pass: jobs processed at the same time, and uploads that wait for Paperless meanwhile.

Paperless takes a second or more to import a file, in the order of the uploads. A job that waits for that gives its slot
to the next job, which is uploaded in the meantime, so that Paperless always has work. What a job records, and when,
does not depend on it: a crash leaves more jobs with an open upload, and the next pass resumes each of them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

POLLED_UPLOADS = 2
"""Oldest uploads whose tasks are polled. The others wait: polling them would only cost Paperless time."""


class UploadPipeline:
    """Slots for jobs that do something, and turns for those that wait for Paperless."""

    def __init__(self, concurrency: int, uploads_ahead: int) -> None:
        self.max_jobs = concurrency + uploads_ahead
        """Jobs that are started and not finished: those in a slot, and uploads that wait."""
        self._slots = asyncio.Semaphore(concurrency)
        self._turns = asyncio.Semaphore(POLLED_UPLOADS)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot during the block. Everything that a job does happens in one, except waiting."""
        async with self._slots:
            yield

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait, without a slot, until the upload is one of the oldest, and hold that turn during the block."""
        if self._turns.locked():
            async with self.paused():
                await self._turns.acquire()
        else:
            await self._turns.acquire()
        try:
            yield
        finally:
            self._turns.release()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Give the slot to another job during the block."""
        self._slots.release()
        try:
            yield
        finally:
            await self._slots.acquire()
