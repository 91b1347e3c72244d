"""Keep one fork server running, start jobs in it, and make external programs executable for them."""

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
    """Module with the table `JOBS`, which the server imports before its first fork."""
    import_paths: tuple[str, ...] = ()
    """Import paths of the module, unless it is installed."""
    shared_programs_folder: Path = SHARED_PROGRAMS_FOLDER
    startup_timeout_seconds: float = 60


class ForkServer:
    """Handle of the fork server, one per event loop. The server starts with the first job."""

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
        """Run a job on `file` in a child. All its processes are gone when the block ends."""
        link, number = await self._running_process(), next(self._job_numbers)
        parent_end, child_end = socket.socketpair()
        parent_end.setblocking(False)
        job = JobHandle(
            link,
            number,
            output=parent_end,
            exited=link.register(number),
            limits=self._limits,
            timeouts=self._timeouts,
        )
        try:
            with child_end, _read_only_descriptor(file) as descriptor:
                start = StartJob(number, name, arguments, self._limits, tuple(readable))
                await link.submit(start, [descriptor, child_end.fileno()])
            yield job
        finally:
            await job.terminate()

    async def make_program_reachable(self, program: Program) -> Program | None:
        """Return the program where a child can run it: in place, or copied to a shared folder, which requires root."""
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
        """Stop the server and all jobs. A later job would start it again."""
        async with self._start_lock:
            if self._process:
                await self._process.close()
                self._process = None

    async def _running_process(self) -> ForkServerProcess:
        async with self._start_lock:
            if self._process is None or self._process.has_exited:
                config = self._config
                self._process = await ForkServerProcess.open(
                    config.jobs_module, config.import_paths, timeout_seconds=config.startup_timeout_seconds
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
    """Return a separate descriptor for the child, which can neither write nor change our file position."""
    file.flush()
    try:
        descriptor = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # without /proc the position is shared, and only the limit on file sizes prevents writing
        descriptor = os.dup(file.fileno())
        os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
