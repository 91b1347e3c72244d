"""Limit the size of bodies that are read into memory, and the size and time of request headers."""

import asyncio
import re
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_BODY_BYTES = 1024 * 1024


STREAMED_PATHS = re.compile(r"/api/v1/(knowledge-bases/[^/]+/documents(/[^/]+/replace)?|organizations/[^/]+/archive)/?")


class BodyLimit:
    """Answers 413 as soon as a body is larger than `max_bytes` or announces it, before authentication."""

    def __init__(self, app: ASGIApp, *, max_bytes: int = MAX_BODY_BYTES, stalled_seconds: float = 30) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._stalled_seconds = stalled_seconds
        self._message = f"The request body exceeds the limit of {max_bytes} bytes"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or STREAMED_PATHS.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
        elif self._exceeds_limit(Headers(scope=scope).get("content-length", "")):
            await JSONResponse({"detail": self._message}, status_code=413)(scope, receive, send)
        else:
            await self._app(scope, self._limit(receive), send)

    def _limit(self, receive: Receive) -> Receive:
        received, expects_body = 0, True

        async def counted() -> Message:
            nonlocal received, expects_body
            try:
                async with asyncio.timeout(self._stalled_seconds if expects_body else None):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "The upload stalled. Send it again") from None
            expects_body = message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                # Of this type, because FastAPI turns any other error during reading into a 400.
                raise HTTPException(413, self._message)
            return message

        return counted

    def _exceeds_limit(self, length: str) -> bool:
        return length.isdecimal() and int(length) > self._max_bytes


MAX_HEAD_BYTES = 64 * 1024


HEAD_SECONDS = 20.0


ERROR_RESPONSES = {
    408: b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    431: b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
}


class HeaderLimitProtocol(HttpToolsProtocol):
    """Limits bytes and seconds from the first byte of a request or connection to the end of its headers."""

    max_head_bytes = MAX_HEAD_BYTES
    head_seconds = HEAD_SECONDS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = 0
        self._start_timer()

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._deadline is not None:  # the headers are still incomplete
            self._head_bytes += len(data)
            if self._head_bytes > self.max_head_bytes:
                self._reject(431)

    def _start_timer(self) -> None:
        self._stop_timer()
        self._deadline = self.loop.call_later(self.head_seconds, self._reject, 408)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _reject(self, status: int) -> None:
        self._stop_timer()
        if not self.transport.is_closing():
            self.transport.write(ERROR_RESPONSES[status])
            self.transport.close()
