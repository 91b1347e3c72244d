"""The head of a request must be short and come at once, whoever sends it: uvicorn with httptools limits neither."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 20.0

REFUSALS = {
    408: b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    431: b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
}


class LimitedHead(HttpToolsProtocol):
    """Counts bytes and seconds from the first byte of a request, or of a connection, to the end of its headers."""

    max_head_bytes = MAX_HEAD_BYTES
    head_seconds = HEAD_SECONDS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_expecting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = 0
        self._expect_head()

    def on_headers_complete(self) -> None:
        self._stop_expecting()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._deadline is not None:  # still no end of the headers in sight
            self._head_bytes += len(data)
            if self._head_bytes > self.max_head_bytes:
                self._refuse(431)

    def _expect_head(self) -> None:
        self._stop_expecting()
        self._deadline = self.loop.call_later(self.head_seconds, self._refuse, 408)

    def _stop_expecting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, status: int) -> None:
        self._stop_expecting()
        if not self.transport.is_closing():
            self.transport.write(REFUSALS[status])
            self.transport.close()
