"""The edges of a streamed exchange: what uploads and downloads have in common with no feature."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from muniment.errors import MunimentError, TooSlow
from muniment.telemetry.metrics import UPLOADS

STALLED_SECONDS = 60.0
LOOK_SECONDS = 0.5

AnswerT = TypeVar("AnswerT")


async def request_chunks(request: Request, *, stalled_seconds: float = STALLED_SECONDS) -> AsyncIterator[bytes]:
    """The body as it comes. Whoever falls silent in the middle of it loses the connection, and the room it takes."""
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
def counted_refusals() -> Iterator[None]:
    """Count uploads that were not accepted, by what stopped them."""
    try:
        yield
    except MunimentError as error:
        UPLOADS.labels(error.code).inc()
        raise
    except ClientDisconnect:
        UPLOADS.labels("hung_up").inc()
        raise


async def unless_gone(request: Request, answer: Coroutine[Any, Any, AnswerT]) -> AnswerT:
    """The answer, or `ClientDisconnect` when nobody waits for it any more: then the work for it ends too."""
    working = asyncio.ensure_future(answer)
    try:
        while not (await asyncio.wait({working}, timeout=LOOK_SECONDS))[0]:
            if await request.is_disconnected():
                raise ClientDisconnect
        return await working
    finally:
        working.cancel()


async def opened(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Fetch the first piece now, so that a missing object is an error answer and not a broken 200."""
    first = await anext(pieces, None)
    return _with(first, pieces)


async def _with(first: bytes | None, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if first is not None:
        yield first
    async for piece in rest:
        yield piece
