"""Handle of one running job: its output, its timeouts, its guaranteed end and the meaning of its exit."""

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import structlog

from muniment.errors import Unavailable
from muniment.processing.readers.contract import ExtractedPage, RenderedImage
from muniment.processing.readers.errors import MEMORY_MESSAGE, Unreadable, UnreadableCode
from muniment.processing.sandbox.parent.server_process import ForkServerProcess, SandboxUnavailable
from muniment.processing.sandbox.protocol import decoding
from muniment.processing.sandbox.protocol.control import JobExited, JobLimits
from muniment.processing.sandbox.protocol.decoding import OutputTooLarge, ProtocolViolation
from muniment.processing.sandbox.protocol.frames import FrameType
from muniment.storage.objects.async_io import run_to_completion

TIMEOUT_MESSAGE = "This file takes too long to process. Split it or save it in a simpler format."


CRASH_MESSAGE = "This file could not be read and may be damaged. Save a new copy and upload that."


PROTOCOL_MESSAGE = "This file could not be read correctly. Save a new copy and upload that."


_OUT_OF_MEMORY_SIGNALS = {
    -number for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGTRAP, signal.SIGILL)
}


_MEMORY_LIMIT_SHARE = 0.7


class ReaderKilled(Unavailable):
    """Processing was interrupted, possibly by low memory. It will be retried"""


class ReadingTimeUp(Unavailable):
    """Processing took longer than a worker may spend on one document at a time. It will be continued"""


def classify_exit(exited: JobExited, limits: JobLimits) -> Unreadable | Unavailable:
    """Return why a child ended that had not finished and that we did not kill."""
    if exited.exit_code is None:
        return SandboxUnavailable()
    is_out_of_time = exited.exit_code == -signal.SIGKILL and exited.cpu_seconds >= limits.cpu_seconds
    if exited.exit_code == -signal.SIGXCPU or is_out_of_time:
        return timeout_error()
    is_full = exited.peak_bytes >= limits.memory_bytes * _MEMORY_LIMIT_SHARE
    if is_full and exited.exit_code in {-signal.SIGKILL, *_OUT_OF_MEMORY_SIGNALS}:
        return memory_error()
    # A SIGKILL that we did not send is an operator's, or the kernel's when memory runs out: children are its first
    # choice, whichever process used the memory. The file need not be the cause.
    return ReaderKilled() if exited.exit_code == -signal.SIGKILL else crash_error()


def memory_error() -> Unreadable:
    return Unreadable(UnreadableCode.READER_MEMORY, MEMORY_MESSAGE)


def crash_error() -> Unreadable:
    return Unreadable(UnreadableCode.CORRUPT, CRASH_MESSAGE)


def timeout_error() -> Unreadable:
    return Unreadable(UnreadableCode.READER_TIMEOUT, TIMEOUT_MESSAGE)


def page_size_error(limit: str) -> Unreadable:
    message = f"A page of this file has more than {limit}. Split it and upload the parts."
    return Unreadable(UnreadableCode.TOO_LARGE, message)


def protocol_error() -> Unreadable:
    return Unreadable(UnreadableCode.CORRUPT, PROTOCOL_MESSAGE)


log = structlog.get_logger()


# After these frames a child sends nothing more, and its exit is expected.
_FINAL_FRAMES = {FrameType.DONE, FrameType.IMAGE, FrameType.PROTECTIONS, FrameType.FAILED, FrameType.CRASHED}


@dataclass(frozen=True)
class JobTimeouts:
    stall_seconds: float
    """Time limit of one page."""
    total_seconds: float


class JobHandle:
    """Handle of a job. Its methods may raise `Unreadable`, or `SandboxUnavailable` when the server is gone."""

    def __init__(
        self,
        server: ForkServerProcess,
        number: int,
        *,
        output: socket.socket,
        exited: asyncio.Future[JobExited],
        limits: JobLimits,
        timeouts: JobTimeouts,
    ) -> None:
        self._server = server
        self._number = number
        self._output = output
        self._exited = exited
        self._limits = limits
        self._timeouts = timeouts
        self._started_at = time.monotonic()
        self._pages = 0
        self._kill_reason: str | None = "left"

    async def receive_total_pages(self) -> int:
        with self._translate_errors():
            return decoding.decode_total_pages(await self._receive_body(FrameType.OPENED))

    async def receive_page(self) -> ExtractedPage:
        with self._translate_errors():
            page = await decoding.decode_page_off_loop(await self._receive_body(FrameType.PAGE))
        self._pages += 1
        return page

    async def receive_image(self) -> RenderedImage:
        with self._translate_errors():
            return decoding.decode_image(await self._receive_body(FrameType.IMAGE))

    async def receive_protections(self) -> dict[str, bool]:
        with self._translate_errors():
            return decoding.decode_protections(await self._receive_body(FrameType.PROTECTIONS))

    async def wait_until_done(self) -> None:
        with self._translate_errors():
            await self._receive_body(FrameType.DONE)

    def reject(self, reason: str) -> NoReturn:
        """Stop a child that sent invalid data."""
        with self._translate_errors():
            raise ProtocolViolation(reason)

    async def terminate(self) -> None:
        """Kill all remaining processes and wait until they are gone, even if cancelled."""
        await run_to_completion(self._terminate())

    async def _terminate(self) -> None:
        self._output.close()
        if not self._exited.done():
            if self._kill_reason:
                log.info(
                    "sandbox.killed", reason=self._kill_reason, seconds=round(time.monotonic() - self._started_at, 3)
                )
            with contextlib.suppress(SandboxUnavailable):
                await self._server.kill(self._number)
            await asyncio.wait([self._exited])

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except OutputTooLarge as excess:
            self._kill_reason = f"limit: {excess}"
            raise page_size_error(excess.limit) from None
        except ProtocolViolation as violation:
            self._kill_reason = f"violation: {violation}"
            raise protocol_error() from None
        except TimeoutError:
            self._kill_reason = "timeout"
            raise self._timeout_reason() from None

    def _timeout_reason(self) -> Unreadable | Unavailable:
        """Distinguish a page that takes too long from a document that goes on: its pages so far are not lost."""
        is_time_up = time.monotonic() - self._started_at >= self._timeouts.total_seconds
        return ReadingTimeUp() if is_time_up and self._pages else timeout_error()

    async def _receive_body(self, expected: FrameType) -> bytes:
        """Return the body of the next frame, which must be of this type, or raise the reason why there is none."""
        left = self._started_at + self._timeouts.total_seconds - time.monotonic()
        async with asyncio.timeout(min(self._timeouts.stall_seconds, left)):
            try:
                kind, body = await decoding.receive_frame(self._output)
            except (decoding.OutputClosed, ConnectionResetError):
                reason = classify_exit(await asyncio.shield(self._exited), self._limits)
                is_out_of_time = isinstance(reason, Unreadable) and reason.code is UnreadableCode.READER_TIMEOUT
                raise (ReadingTimeUp() if is_out_of_time and self._pages else reason) from None
        if kind in _FINAL_FRAMES:
            self._kill_reason = None
        match kind:
            case FrameType.FAILED:
                raise decoding.decode_failure(body)
            case FrameType.CRASHED:
                log.warning("sandbox.crashed", where=decoding.decode_crash_location(body))
                raise crash_error()
        if kind is not expected:
            raise ProtocolViolation(f"{kind.name} instead of {expected.name}")
        return body
