"""Open documents in a sandbox: read a file, render an image. Nothing else in Muniment may open one."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO, Protocol

from muniment.processing.readers.contract import Box, Image, Means, Options, Page
from muniment.processing.sandbox.parent.fork_server import Nursery, Workplace
from muniment.processing.sandbox.parent.job import Patience, RunningJob
from muniment.processing.sandbox.parent.programs import Tool
from muniment.processing.sandbox.protocol.control import DESCRIBE, Limits


class PagesInOrder:
    """The pages as the child computes them, from 1 to the last. It waits while nobody asks for the next."""

    def __init__(self, job: RunningJob, total: int) -> None:
        self._job = job
        self._total = total
        self._number = 0

    def __aiter__(self) -> AsyncIterator[Page]:
        return self

    async def __anext__(self) -> Page:
        if self._number == self._total:
            await self._job.done()
            raise StopAsyncIteration
        page = await self._job.page()
        self._number += 1
        if page.number != self._number:
            self._job.distrust("pages out of order")
        return page


@dataclass(frozen=True)
class SandboxedReading:
    """A file that could be opened; it lasts as long as the block of `Sandbox.read`."""

    total_pages: int
    pages: PagesInOrder


class Sandbox:
    """Opens files in processes of their own, which can harm nobody. One for each event loop; `close` it at the end.

    Every method may raise `Unreadable`, or `NoReader` (an `Unavailable`, worth a retry) when the fork server does not
    start or dies. It starts at first use, and anew when it is gone. `file` is an open file without a name; the child
    gets a descriptor of its own for reading, so it may be used again, even at the same time.
    """

    def __init__(
        self,
        means: Means,
        *,
        memory_bytes: int = 2 << 30,
        stall_seconds: float = 120,
        total_seconds: float = 4 * 3600,
        workplace: Workplace | None = None,
    ) -> None:
        """The limits are for one file: the memory of each process, the time for one page and for all of them."""
        limits = Limits(memory_bytes, cpu_seconds=int(total_seconds) + 1)
        patience = Patience(stall_seconds, total_seconds)
        self._nursery = Nursery(limits, patience, workplace or Workplace())
        self._wanted = means
        self._preparing = asyncio.Lock()
        self._prepared: Means | None = None

    @contextlib.asynccontextmanager
    async def read(self, file: BinaryIO, media_type: str, options: Options) -> AsyncIterator[SandboxedReading]:
        """Open a file and read its pages. When the block is left, finished or not, nothing of it runs any more."""
        async with self._job("read", file, media_type=media_type, options=asdict(options)) as job:
            total = await job.total_pages()
            yield SandboxedReading(total, PagesInOrder(job, total))

    async def page_picture(self, file: BinaryIO, media_type: str, page_number: int, width_px: int) -> Image:
        """A picture of one page, `width_px` wide."""
        async with self._job(
            "page_picture", file, media_type=media_type, page_number=page_number, width_px=width_px
        ) as job:
            return await job.image()

    async def figure_picture(
        self, file: BinaryIO, media_type: str, page_number: int, box: Box | None, source: str | None
    ) -> Image:
        """A picture of one figure, found again by its box or its source."""
        async with self._job(
            "figure_picture", file, media_type=media_type, page_number=page_number, box=box, source=source
        ) as job:
            return await job.image()

    async def describe(self) -> dict[str, bool]:
        """Which protections hold on this machine, and whether OCR is within reach (`ocr`)."""
        with open(os.devnull, "rb") as nothing:  # noqa: ASYNC230, PTH123 a device
            async with self._job(DESCRIBE, nothing) as job:
                return {**await job.protections(), "ocr": (await self._means()).tesseract is not None}

    async def close(self) -> None:
        """End the server and everything it has started."""
        await self._nursery.close()

    @contextlib.asynccontextmanager
    async def _job(self, name: str, file: BinaryIO, **arguments: Any) -> AsyncIterator[RunningJob]:
        means = await self._means()
        tool = _tool(means)
        async with self._nursery.job(
            name, file, {**arguments, "means": asdict(means)}, readable=tool.folders if tool else ()
        ) as job:
            yield job

    async def _means(self) -> Means:
        """As wanted, with the tools where a child can run them, or without."""
        async with self._preparing:
            if self._prepared is None:
                tool = _tool(self._wanted)
                reachable = await self._nursery.find_reachable(tool) if tool else None
                self._prepared = replace(
                    self._wanted,
                    tesseract=reachable.program if reachable else None,
                    tessdata=reachable.data if reachable else None,
                )
            return self._prepared


def _tool(means: Means) -> Tool | None:
    return Tool(means.tesseract, means.tessdata) if means.tesseract and means.tessdata else None


class OpenReading(Protocol):
    """A file that the sandbox has opened."""

    @property
    def total_pages(self) -> int: ...

    @property
    def pages(self) -> AsyncIterator[Page]: ...


class FileReader(Protocol):
    """Reads a file where it can do no harm."""

    def read(self, file: BinaryIO, media_type: str, options: Options) -> AbstractAsyncContextManager[OpenReading]:
        """Open it, or raise `Unreadable`. Leaving the block ends the reader, however far it was."""
