"""The fork server process as its parent sees it: start it, send jobs with their descriptors, receive their exits."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Self

import structlog

from muniment.errors import Unavailable
from muniment.processing.sandbox.protocol.control import (
    ControlMessage,
    JobExited,
    JobStarted,
    KillJob,
    MessageDecoder,
    ServerFailed,
    ServerReady,
    StartJob,
    encode,
)
from muniment.storage.objects.async_io import run_in_thread, run_to_completion

log = structlog.get_logger()


SERVER_MODULE = "muniment.processing.sandbox.server"


# Nothing of our environment, which contains secrets. Programs find the system's libraries and UTF-8.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}


_RECEIVE_BYTES = 1 << 16


_CLOSING_SECONDS = 20


class ForkServerProcess:
    """Process of the fork server; create it with `open`. When it exits, all jobs end with `SandboxUnavailable`."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._process = process
        self._control = control
        self._send_lock = asyncio.Lock()
        self._exits: dict[int, asyncio.Future[JobExited]] = {}
        self._pids: dict[int, int] = {}
        self._ready: asyncio.Future[None] = loop.create_future()
        self._has_exited = False
        self._listener = loop.create_task(self._listen())

    @classmethod
    async def open(cls, jobs_module: str, import_paths: Sequence[str], *, timeout_seconds: float) -> Self:
        """Start a server and wait until it has imported everything."""
        parent_end, server_end = socket.socketpair()
        with server_end:
            parent_end.setblocking(False)
            link = cls(_spawn(server_end, jobs_module, import_paths), parent_end)
        is_open = False
        try:
            await asyncio.wait([link._ready], timeout=timeout_seconds)
            if not link._ready.done():
                raise SandboxUnavailable
            link._ready.result()
            is_open = True
        finally:
            if not is_open:
                link._process.kill()
                await link.close()
        return link

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_exited(self) -> bool:
        return self._has_exited

    def register(self, job: int) -> asyncio.Future[JobExited]:
        """Return a future for a job about to be submitted; it is done when no process of the job is left."""
        ended: asyncio.Future[JobExited] = asyncio.get_running_loop().create_future()
        self._exits[job] = ended
        if self._has_exited:
            self._fail_pending()
        return ended

    async def submit(self, start: StartJob, descriptors: Sequence[int]) -> None:
        """Start a job that was registered before."""
        await self._send(start, descriptors)

    async def kill(self, job: int) -> None:
        await self._send(KillJob(job))

    async def close(self) -> None:
        """Stop the server and its children, and wait until they are gone."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)  # the server kills its children, waits for the last one and exits
        await asyncio.wait([self._listener], timeout=_CLOSING_SECONDS)
        self._process.kill()  # does nothing if it has exited
        await asyncio.wait([self._listener])

    async def _send(self, message: ControlMessage, descriptors: Sequence[int] = ()) -> None:
        try:
            await run_to_completion(
                self._send_all(encode(message), descriptors)
            )  # an incomplete message would end all jobs
        except OSError:
            raise SandboxUnavailable from None

    async def _send_all(self, data: bytes, descriptors: Sequence[int]) -> None:
        async with self._send_lock:
            # The descriptors are sent with the first byte; the rest needs none.
            sent = await self._send_first(data, descriptors)
            await asyncio.get_running_loop().sock_sendall(self._control, data[sent:])

    async def _send_first(self, data: bytes, descriptors: Sequence[int]) -> int:
        while True:
            try:
                return socket.send_fds(self._control, [data], descriptors) if descriptors else 0
            except BlockingIOError:
                await self._wait_until_writable()

    async def _wait_until_writable(self) -> None:
        loop = asyncio.get_running_loop()
        writable = asyncio.Event()
        loop.add_writer(self._control, writable.set)
        try:
            await writable.wait()
        finally:
            loop.remove_writer(self._control)

    async def _listen(self) -> None:
        loop, lines = asyncio.get_running_loop(), MessageDecoder()
        try:
            with contextlib.suppress(ConnectionResetError):
                while data := await loop.sock_recv(self._control, _RECEIVE_BYTES):
                    for message in lines.feed(data):
                        self._handle(message)
        finally:
            self._on_exit()
            self._control.close()
        await run_in_thread(self._process.wait)

    def _handle(self, message: ControlMessage) -> None:
        match message:
            case ServerReady():
                self._ready.set_result(None)
            case ServerFailed(reason):
                log.error("sandbox.server_failed", reason=reason)
            case JobStarted(job, pid):
                self._pids[job] = pid
            case JobExited(job):
                self._pids.pop(job, None)
                if not (ended := self._exits.pop(job)).done():
                    ended.set_result(message)

    def _on_exit(self) -> None:
        # Children die with their server, but programs they have executed do not.
        for group in self._pids.values():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        self._has_exited = True
        self._fail_pending()

    def _fail_pending(self) -> None:
        futures: list[asyncio.Future[Any]] = [self._ready, *self._exits.values()]
        for waiting in futures:
            if not waiting.done():
                waiting.set_exception(SandboxUnavailable())
                waiting.exception()  # mark as retrieved: possibly no task is waiting
        self._exits.clear()


def _spawn(control: socket.socket, jobs_module: str, import_paths: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 our own interpreter and module
        [sys.executable, "-I", "-m", SERVER_MODULE, str(control.fileno()), jobs_module, *import_paths],
        env=ENVIRONMENT,
        cwd="/",
        pass_fds=[control.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class SandboxUnavailable(Unavailable):
    """Document processing is not running. Try again shortly"""
