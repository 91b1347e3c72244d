"""Server-sent events on the wire."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

RETRY = b"retry: 2000\n\n"
HEARTBEAT = b": still here\n\n"
# The second is for nginx, which would collect a few kilobytes before it passes anything on.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def frame(event: str, data: Mapping[str, Any]) -> bytes:
    # One line: a line break inside of strings is written as \n by JSON.
    return f"event: {event}\ndata: {json.dumps(data, default=str, ensure_ascii=False)}\n\n".encode()


class EventStream(Response):
    """Sends frames until there are no more.

    Unlike Starlette's streaming answer it does not cancel the frames when the reader leaves, which would hit a query in
    its middle: it calls `end`, and they stop by themselves. It does so in any case, once at least.
    """

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncGenerator[bytes], *, end: Callable[[], None]) -> None:
        self._frames = frames
        self._end = end
        self.status_code = 200
        self.background = None
        self.init_headers(HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watching = asyncio.create_task(self._watch(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": RETRY, "more_body": True})
            async with aclosing(self._frames) as frames:
                async for piece in frames:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._end()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _watch(self, receive: Receive) -> None:
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self._end()
