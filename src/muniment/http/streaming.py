"""Streamed requests and responses: stalled uploads, disconnected clients, byte ranges (RFC 9110) and server-sent
events.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from muniment.errors import MunimentError, TooSlow
from muniment.telemetry.metrics import UPLOADS

STALLED_SECONDS = 60.0


DISCONNECT_POLL_SECONDS = 0.5


AnswerT = TypeVar("AnswerT")


async def request_chunks(request: Request, *, stalled_seconds: float = STALLED_SECONDS) -> AsyncIterator[bytes]:
    """Yield the body as it arrives. A client that stops sending is disconnected."""
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(stalled_seconds):
                chunk = await anext(stream, None)
        except TimeoutError:
            raise TooSlow from None
        if chunk is None:
            return
        if chunk:
            yield chunk


@contextmanager
def count_rejected_uploads() -> Iterator[None]:
    """Count rejected uploads by the error that stopped them."""
    try:
        yield
    except MunimentError as error:
        UPLOADS.labels(error.code).inc()
        raise
    except ClientDisconnect:
        UPLOADS.labels("hung_up").inc()
        raise


async def cancel_on_disconnect(request: Request, answer: Coroutine[Any, Any, AnswerT]) -> AnswerT:
    """Return the response, or cancel the work and raise `ClientDisconnect` when the client disconnects."""
    working = asyncio.ensure_future(answer)
    try:
        while not (await asyncio.wait({working}, timeout=DISCONNECT_POLL_SECONDS))[0]:
            if await request.is_disconnected():
                raise ClientDisconnect
        return await working
    finally:
        working.cancel()


async def prefetch_first_chunk(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Fetch the first chunk before responding, so that a missing object is an error and not a broken 200."""
    first = await anext(pieces, None)
    return _prepend(first, pieces)


async def _prepend(first: bytes | None, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if first is not None:
        yield first
    async for piece in rest:
        yield piece


RANGE_HEADER = re.compile(r"bytes=([0-9]*)-([0-9]*)", re.IGNORECASE)


MAX_DIGITS = 19  # more digits than any file size has


@dataclass(frozen=True)
class ByteRange:
    """Bytes from `start` up to, but not including, `end`."""

    start: int
    end: int


class RangeNotSatisfiable(Exception):
    """The range is outside the file."""


def parse_range(header: str | None, size_bytes: int) -> ByteRange | None:
    """Return the requested range, or `None` for the whole file if there is none or it cannot be parsed."""
    match = RANGE_HEADER.fullmatch(header.strip()) if header else None
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = _parse_number(match[2])
        if length == 0:
            raise RangeNotSatisfiable
        return ByteRange(max(0, size_bytes - length), size_bytes)
    start = _parse_number(match[1])
    last = _parse_number(match[2]) if match[2] else size_bytes - 1
    if match[2] and last < start:
        return None
    if start >= size_bytes:
        raise RangeNotSatisfiable
    return ByteRange(start, min(last + 1, size_bytes))


def _parse_number(digits: str) -> int:
    # Truncated, because Python refuses to parse thousands of digits; the number is still too large.
    return int(digits.lstrip("0")[:MAX_DIGITS] or "0")


RETRY_FRAME = b"retry: 2000\n\n"


HEARTBEAT_FRAME = b": still here\n\n"


# The second header is for nginx, which would buffer a few kilobytes.
EVENT_STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def format_event(event: str, data: Mapping[str, Any]) -> bytes:
    # One line: JSON escapes line breaks in strings.
    return f"event: {event}\ndata: {json.dumps(data, default=str, ensure_ascii=False)}\n\n".encode()


class EventStreamResponse(Response):
    """Sends frames until there are no more.

    Starlette's streaming response would cancel the frames when the client disconnects, possibly during a query. This
    one calls `end`, at least once in any case, and the frames end on their own.
    """

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncGenerator[bytes], *, end: Callable[[], None]) -> None:
        self._frames = frames
        self._end = end
        self.status_code = 200
        self.background = None
        self.init_headers(EVENT_STREAM_HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watcher = asyncio.create_task(self._watch_disconnect(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": RETRY_FRAME, "more_body": True})
            async with aclosing(self._frames) as frames:
                async for piece in frames:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._end()
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)

    async def _watch_disconnect(self, receive: Receive) -> None:
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self._end()
