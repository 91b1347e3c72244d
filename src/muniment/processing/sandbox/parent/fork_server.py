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

from muniment.processing.sandbox.parent.job import JobHandle, JobTimeouts
from muniment.processing.sandbox.parent.programs import SHARED_PROGRAMS_FOLDER, Program, copy_program
from muniment.processing.sandbox.parent.server_process import ForkServerProcess
from muniment.processing.sandbox.protocol.control import PROBE_PROGRAM, JobLimits, StartJob
from muniment.storage.objects.async_io import run_in_thread

log = structlog.get_logger()


@dataclass(frozen=True)
class ForkServerConfig:
    jobs_module: str = "muniment.processing.sandbox.child.jobs"
    """The module with the table `JOBS`, which the server imports before its first fork."""
    import_paths: tuple[str, ...] = ()
    """Where to look for it, unless it is installed."""
    shared_programs_folder: Path = SHARED_PROGRAMS_FOLDER
    startup_timeout_seconds: float = 60


class ForkServer:
    """One for each event loop; the server starts with the first job."""

    def __init__(self, limits: JobLimits, timeouts: JobTimeouts, config: ForkServerConfig) -> None:
        self._limits = limits
        self._timeouts = timeouts
        self._config = config
        self._job_numbers = itertools.count(1)
        self._start_lock = asyncio.Lock()
        self._process: ForkServerProcess | None = None

    @contextlib.asynccontextmanager
    async def job(
        self, name: str, file: BinaryIO, arguments: Mapping[str, Any], *, readable: Sequence[str] = ()
    ) -> AsyncIterator[JobHandle]:
        """Have a child do this with `file`. At the end of the block nothing of it is left."""
        link, number = await self._running_process(), next(self._job_numbers)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        job = JobHandle(
            link,
            number,
            output=ours,
            exited=link.register(number),
            limits=self._limits,
            timeouts=self._timeouts,
        )
        try:
            with theirs, _read_only_descriptor(file) as descriptor:
                start = StartJob(number, name, arguments, self._limits, tuple(readable))
                await link.submit(start, [descriptor, theirs.fileno()])
            yield job
        finally:
            await job.terminate()

    async def make_program_reachable(self, program: Program) -> Program | None:
        """The tool where a child can run it: as it is, or copied to an open place, which only root can do."""
        if await self._can_run(program):
            return program
        if os.geteuid() == 0:
            copied = await run_in_thread(
                lambda: copy_program(program, shared_folder=self._config.shared_programs_folder)
            )
            if await self._can_run(copied):
                return copied
        log.warning("sandbox.program_unreachable", program=program.path)
        return None

    async def close(self) -> None:
        """End the server and every job. A later job would start it anew."""
        async with self._start_lock:
            if self._process:
                await self._process.close()
                self._process = None

    async def _running_process(self) -> ForkServerProcess:
        async with self._start_lock:
            if self._process is None or self._process.has_exited:
                place = self._config
                self._process = await ForkServerProcess.open(
                    place.jobs_module, place.import_paths, timeout_seconds=place.startup_timeout_seconds
                )
                log.debug("sandbox.started", pid=self._process.pid)
            return self._process

    async def _can_run(self, program: Program) -> bool:
        arguments = {"program": program.path, "folder": program.data_folder}
        with open(os.devnull, "rb") as nothing:  # noqa: ASYNC230, PTH123 a device
            async with self.job(PROBE_PROGRAM, nothing, arguments, readable=program.readable_folders) as job:
                return (await job.receive_protections())["runs"]


@contextlib.contextmanager
def _read_only_descriptor(file: BinaryIO) -> Iterator[int]:
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
