"""Open documents in a sandbox: read a file, render an image. Nothing else in Muniment may open one."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO, Protocol

from muniment.processing.readers.contract import Box, ExtractedPage, ReaderResources, ReadingOptions, RenderedImage
from muniment.processing.sandbox.parent.fork_server import ForkServer, ForkServerConfig
from muniment.processing.sandbox.parent.job import JobHandle, JobTimeouts
from muniment.processing.sandbox.parent.programs import Program
from muniment.processing.sandbox.protocol.control import PROBE, JobLimits


class PageStream:
    """Pages in order as the child computes them. The child waits until the next one is requested."""

    def __init__(self, job: JobHandle, total: int, *, first_page: int) -> None:
        self._job = job
        self._total = total
        self._number = first_page - 1

    def __aiter__(self) -> AsyncIterator[ExtractedPage]:
        return self

    async def __anext__(self) -> ExtractedPage:
        if self._number >= self._total:
            await self._job.wait_until_done()
            raise StopAsyncIteration
        page = await self._job.receive_page()
        self._number += 1
        if page.number != self._number:
            self._job.reject("pages out of order")
        return page


@dataclass(frozen=True)
class SandboxedFile:
    """An opened file, usable within the block of `Sandbox.read`."""

    total_pages: int
    pages: PageStream


class Sandbox:
    """Opens files in separate, confined processes. Create one per event loop and `close` it at the end.

    Every method may raise `Unreadable`, or `SandboxUnavailable` (an `Unavailable`, worth a retry) when the fork server
    does not start or dies. It starts at first use and again after it died. `file` is an open, unnamed file; the child
    gets its own read-only descriptor, so the file may be used again, even at the same time.
    """

    def __init__(
        self,
        resources: ReaderResources,
        *,
        memory_bytes: int = 2 << 30,
        stall_seconds: float = 120,
        total_seconds: float = 4 * 3600,
        server_config: ForkServerConfig | None = None,
    ) -> None:
        """Set the limits per file: memory of each process, time for one page and for all pages."""
        limits = JobLimits(memory_bytes, cpu_seconds=int(total_seconds) + 1)
        timeouts = JobTimeouts(stall_seconds, total_seconds)
        self._fork_server = ForkServer(limits, timeouts, server_config or ForkServerConfig())
        self._requested_resources = resources
        self._resources_lock = asyncio.Lock()
        self._effective_resources: ReaderResources | None = None

    @contextlib.asynccontextmanager
    async def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AsyncIterator[SandboxedFile]:
        """Open a file and read its pages, from `first_page` on. Leaving the block ends all its processes, finished or
        not."""
        async with self._job(
            "read", file, media_type=media_type, options=asdict(options), first_page=first_page
        ) as job:
            total = await job.receive_total_pages()
            yield SandboxedFile(total, PageStream(job, total, first_page=first_page))

    async def render_page(self, file: BinaryIO, media_type: str, page_number: int, width_px: int) -> RenderedImage:
        """Render a page `width_px` wide."""
        async with self._job(
            "page_picture", file, media_type=media_type, page_number=page_number, width_px=width_px
        ) as job:
            return await job.receive_image()

    async def render_figure(
        self, file: BinaryIO, media_type: str, page_number: int, box: Box | None, source: str | None
    ) -> RenderedImage:
        """Render a figure, located by its box or its source."""
        async with self._job(
            "figure_picture", file, media_type=media_type, page_number=page_number, box=box, source=source
        ) as job:
            return await job.receive_image()

    async def probe(self) -> dict[str, bool]:
        """Return which protections are active on this machine, and whether OCR is available (`ocr`)."""
        with open(os.devnull, "rb") as nothing:  # noqa: ASYNC230, PTH123 a device
            async with self._job(PROBE, nothing) as job:
                return {
                    **await job.receive_protections(),
                    "ocr": (await self._resolve_resources()).tesseract is not None,
                }

    async def close(self) -> None:
        """Stop the server and all its processes."""
        await self._fork_server.close()

    @contextlib.asynccontextmanager
    async def _job(self, name: str, file: BinaryIO, **arguments: Any) -> AsyncIterator[JobHandle]:
        means = await self._resolve_resources()
        program = _ocr_program(means)
        async with self._fork_server.job(
            name, file, {**arguments, "means": asdict(means)}, readable=program.readable_folders if program else ()
        ) as job:
            yield job

    async def _resolve_resources(self) -> ReaderResources:
        """Return the reader resources, without OCR if no child can execute Tesseract."""
        async with self._resources_lock:
            if self._effective_resources is None:
                program = _ocr_program(self._requested_resources)
                reachable = await self._fork_server.make_program_reachable(program) if program else None
                self._effective_resources = replace(
                    self._requested_resources,
                    tesseract=reachable.path if reachable else None,
                    tessdata=reachable.data_folder if reachable else None,
                )
            return self._effective_resources


def _ocr_program(resources: ReaderResources) -> Program | None:
    return Program(resources.tesseract, resources.tessdata) if resources.tesseract and resources.tessdata else None


class OpenedFile(Protocol):
    """A file that the sandbox has opened."""

    @property
    def total_pages(self) -> int: ...

    @property
    def pages(self) -> AsyncIterator[ExtractedPage]: ...


class FileReader(Protocol):
    """Reads files in isolation."""

    def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AbstractAsyncContextManager[OpenedFile]:
        """Open a file, or raise `Unreadable`. `pages` begins with `first_page`. Leaving the block stops the reader."""
