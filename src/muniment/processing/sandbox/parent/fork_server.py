"""Keep one fork server running, start jobs in it, and make external programs reachable for them."""

import asyncio
import contextlib
import itertools
import os
import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import structlog

from muniment.processing.sandbox.parent.job import Patience, RunningJob
from muniment.processing.sandbox.parent.programs import OPEN_FOLDER, Tool, copy_tool
from muniment.processing.sandbox.parent.server_process import Link
from muniment.processing.sandbox.protocol.control import TRY_PROGRAM, Limits, Start
from muniment.storage.objects.async_io import in_thread

log = structlog.get_logger()


@dataclass(frozen=True)
class Workplace:
    jobs: str = "muniment.processing.sandbox.child.jobs"
    """The module with the table `JOBS`, which the server imports before its first fork."""
    folders: tuple[str, ...] = ()
    """Where to look for it, unless it is installed."""
    open_folder: Path = OPEN_FOLDER
    start_seconds: float = 60


class Nursery:
    """One for each event loop; the server starts with the first job."""

    def __init__(self, limits: Limits, patience: Patience, workplace: Workplace) -> None:
        self._limits = limits
        self._patience = patience
        self._workplace = workplace
        self._numbers = itertools.count(1)
        self._opening = asyncio.Lock()
        self._link: Link | None = None

    @contextlib.asynccontextmanager
    async def job(
        self, name: str, file: BinaryIO, arguments: Mapping[str, Any], *, readable: Sequence[str] = ()
    ) -> AsyncIterator[RunningJob]:
        """Have a child do this with `file`. At the end of the block nothing of it is left."""
        link, number = await self._running_link(), next(self._numbers)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        job = RunningJob(
            link,
            number,
            output=ours,
            ended=link.expect(number),
            limits=self._limits,
            patience=self._patience,
        )
        try:
            with theirs, _for_reading_only(file) as descriptor:
                start = Start(number, name, arguments, self._limits, tuple(readable))
                await link.submit(start, [descriptor, theirs.fileno()])
            yield job
        finally:
            await job.end()

    async def find_reachable(self, tool: Tool) -> Tool | None:
        """The tool where a child can run it: as it is, or copied to an open place, which only root can do."""
        if await self._runs(tool):
            return tool
        if os.geteuid() == 0:
            copied = await in_thread(lambda: copy_tool(tool, open_folder=self._workplace.open_folder))
            if await self._runs(copied):
                return copied
        log.warning("sandbox.tool_unreachable", program=tool.program)
        return None

    async def close(self) -> None:
        """End the server and every job. A later job would start it anew."""
        async with self._opening:
            if self._link:
                await self._link.close()
                self._link = None

    async def _running_link(self) -> Link:
        async with self._opening:
            if self._link is None or self._link.is_lost:
                place = self._workplace
                self._link = await Link.open(place.jobs, place.folders, seconds=place.start_seconds)
                log.debug("sandbox.started", pid=self._link.pid)
            return self._link

    async def _runs(self, tool: Tool) -> bool:
        arguments = {"program": tool.program, "folder": tool.data}
        with open(os.devnull, "rb") as nothing:  # noqa: ASYNC230, PTH123 a device
            async with self.job(TRY_PROGRAM, nothing, arguments, readable=tool.folders) as job:
                return (await job.protections())["runs"]


@contextlib.contextmanager
def _for_reading_only(file: BinaryIO) -> Iterator[int]:
    """A descriptor of its own for the child: it can neither write nor move the place where we read."""
    file.flush()
    try:
        descriptor = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # there is no /proc; the place is shared then, and the limit on file sizes alone forbids writing
        descriptor = os.dup(file.fileno())
        os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
