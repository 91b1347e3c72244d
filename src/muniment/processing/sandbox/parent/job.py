"""Handle of one running job: what its child sends, its timeouts, its certain end and what its exit means."""

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
from muniment.processing.readers.contract import Image, Page
from muniment.processing.readers.errors import TOO_MUCH_MEMORY, Code, Unreadable
from muniment.processing.sandbox.parent.server_process import Link, NoReader
from muniment.processing.sandbox.protocol import decoding
from muniment.processing.sandbox.protocol.control import Ended, Limits
from muniment.processing.sandbox.protocol.decoding import Violation
from muniment.processing.sandbox.protocol.frames import Kind
from muniment.storage.objects.async_io import to_the_end

TOO_MUCH_TIME = "This file takes too long to process. Split it or save it in a simpler format."


CRASHED = "This file could not be read and may be damaged. Save a new copy and upload that."


NOT_UNDERSTOOD = "This file could not be read correctly. Save a new copy and upload that."


_DEATHS_FOR_WANT_OF_MEMORY = {
    -number for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGTRAP, signal.SIGILL)
}


_NEAR_THE_LIMIT = 0.7


class ReaderKilled(Unavailable):
    """Processing was interrupted, possibly by low memory. It will be retried"""


def judge(ended: Ended, limits: Limits) -> Unreadable | Unavailable:
    """Why a child ended that had not finished and that nobody of us had killed."""
    if ended.code is None:
        return NoReader()
    is_spent = ended.code == -signal.SIGKILL and ended.cpu_seconds >= limits.cpu_seconds
    if ended.code == -signal.SIGXCPU or is_spent:
        return timed_out()
    is_full = ended.peak_bytes >= limits.memory_bytes * _NEAR_THE_LIMIT
    if is_full and ended.code in {-signal.SIGKILL, *_DEATHS_FOR_WANT_OF_MEMORY}:
        return too_large()
    # A SIGKILL that is not ours is somebody's, or the kernel's when the machine runs out of memory: children are its
    # first choice, whoever took the memory. The file need not be at fault.
    return ReaderKilled() if ended.code == -signal.SIGKILL else crashed()


def too_large() -> Unreadable:
    return Unreadable(Code.READER_MEMORY, TOO_MUCH_MEMORY)


def crashed() -> Unreadable:
    return Unreadable(Code.CORRUPT, CRASHED)


def timed_out() -> Unreadable:
    return Unreadable(Code.READER_TIMEOUT, TOO_MUCH_TIME)


def violated() -> Unreadable:
    return Unreadable(Code.CORRUPT, NOT_UNDERSTOOD)


log = structlog.get_logger()


# After these a child has nothing more to say, and its end is no news.
_LAST = {Kind.DONE, Kind.IMAGE, Kind.PROTECTIONS, Kind.FAILED, Kind.CRASHED}


@dataclass(frozen=True)
class Patience:
    stall_seconds: float
    """How long a child may work on one page."""
    total_seconds: float


class RunningJob:
    """Everything it gives may raise `Unreadable`, or `NoReader` when the server is gone."""

    def __init__(
        self,
        link: Link,
        number: int,
        *,
        output: socket.socket,
        ended: asyncio.Future[Ended],
        limits: Limits,
        patience: Patience,
    ) -> None:
        self._link = link
        self._number = number
        self._output = output
        self._ended = ended
        self._limits = limits
        self._patience = patience
        self._began = time.monotonic()
        self._reason: str | None = "left"

    async def total_pages(self) -> int:
        with self._watched():
            return decoding.total_pages_of(await self._body(Kind.OPENED))

    async def page(self) -> Page:
        with self._watched():
            return await decoding.page_of(await self._body(Kind.PAGE))

    async def image(self) -> Image:
        with self._watched():
            return decoding.image_of(await self._body(Kind.IMAGE))

    async def protections(self) -> dict[str, bool]:
        with self._watched():
            return decoding.protections_of(await self._body(Kind.PROTECTIONS))

    async def done(self) -> None:
        with self._watched():
            await self._body(Kind.DONE)

    def distrust(self, what: str) -> NoReturn:
        """Give up a child that says what cannot be."""
        with self._watched():
            raise Violation(what)

    async def end(self) -> None:
        """Kill all its processes, if any is left, and wait until they are gone, even when we are cancelled."""
        await to_the_end(self._end())

    async def _end(self) -> None:
        self._output.close()
        if not self._ended.done():
            if self._reason:
                log.info("sandbox.killed", reason=self._reason, seconds=round(time.monotonic() - self._began, 3))
            with contextlib.suppress(NoReader):
                await self._link.kill(self._number)
            await asyncio.wait([self._ended])

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except Violation as violation:
            self._reason = f"violation: {violation}"
            raise violated() from None
        except TimeoutError:
            self._reason = "timeout"
            raise timed_out() from None

    async def _body(self, wanted: Kind) -> bytes:
        """The next frame, which is of this kind, or the reason why it does not come."""
        left = self._began + self._patience.total_seconds - time.monotonic()
        async with asyncio.timeout(min(self._patience.stall_seconds, left)):
            try:
                kind, body = await decoding.receive_frame(self._output)
            except (decoding.Gone, ConnectionResetError):
                raise judge(await asyncio.shield(self._ended), self._limits) from None
        if kind in _LAST:
            self._reason = None
        match kind:
            case Kind.FAILED:
                raise decoding.failure_of(body)
            case Kind.CRASHED:
                log.warning("sandbox.crashed", where=decoding.place_of(body))
                raise crashed()
        if kind is not wanted:
            raise Violation(f"{kind.name} instead of {wanted.name}")
        return body
