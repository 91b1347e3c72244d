"""Our end of one child: what it sends, within its time, and its certain end."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import structlog

from muniment.processing.readers.contract import Image, Page
from muniment.processing.sandbox import untrusted
from muniment.processing.sandbox.confinement import Limits
from muniment.processing.sandbox.control import Ended
from muniment.processing.sandbox.link import Link
from muniment.processing.sandbox.pages_received import Violation
from muniment.processing.sandbox.verdicts import NoReader, crashed, judge, timed_out, violated
from muniment.processing.sandbox.wire import Kind
from muniment.storage.blobs.uninterrupted import to_the_end

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
            return untrusted.total_pages_of(await self._body(Kind.OPENED))

    async def page(self) -> Page:
        with self._watched():
            return await untrusted.page_of(await self._body(Kind.PAGE))

    async def image(self) -> Image:
        with self._watched():
            return untrusted.image_of(await self._body(Kind.IMAGE))

    async def protections(self) -> dict[str, bool]:
        with self._watched():
            return untrusted.protections_of(await self._body(Kind.PROTECTIONS))

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
                kind, body = await untrusted.receive_frame(self._output)
            except (untrusted.Gone, ConnectionResetError):
                raise judge(await asyncio.shield(self._ended), self._limits) from None
        if kind in _LAST:
            self._reason = None
        match kind:
            case Kind.FAILED:
                raise untrusted.failure_of(body)
            case Kind.CRASHED:
                log.warning("sandbox.crashed", where=untrusted.place_of(body))
                raise crashed()
        if kind is not wanted:
            raise Violation(f"{kind.name} instead of {wanted.name}")
        return body
