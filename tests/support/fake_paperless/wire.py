"""HTTP/1.1 implemented by hand: a library would not let the server break off, hang or send invalid responses."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

_MOST_HEADER_BYTES = 65_536


class Delivery(Enum):
    WHOLE = auto()
    NONE = auto()
    """The connection is closed without a response."""
    HALF = auto()
    """The connection is closed in the middle of the response."""


@dataclass
class Request:
    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes
    is_chunked: bool

    def json(self) -> Any:
        return json.loads(self.body)

    def last(self, name: str, default: str = "") -> str:
        """Return the last value of a repeated parameter, as Django does."""
        return self.query[name][-1] if name in self.query else default


@dataclass
class Response:
    status: int = 200
    body: bytes = b""
    content_type: str | None = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delivery: Delivery = Delivery.WHOLE

    @classmethod
    def of_json(cls, body: Any, status: int = 200, **headers: str) -> "Response":
        return cls(status, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(), headers=headers)

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}", f"Content-Length: {len(self.body)}"]
        if self.content_type:
            lines.append(f"Content-Type: {self.content_type}")
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join([*lines, "", ""]).encode()


Handler = Callable[[Request], Awaitable[Response]]


async def serve_connection(handle: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request after the other until the client disconnects. Incomplete requests are not handled."""
    with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        while await _answer(await handle(await _read(reader)), writer):
            pass
    writer.close()


async def _answer(response: Response, writer: asyncio.StreamWriter) -> bool:
    if response.delivery is Delivery.WHOLE:
        writer.write(response.head() + response.body)
    elif response.delivery is Delivery.HALF:
        head = response.head()
        writer.write(head + response.body[: len(response.body) // 2] if response.body else head[: len(head) // 2])
    await writer.drain()
    return response.delivery is Delivery.WHOLE


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head[:-4].split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    parts = urlsplit(target)
    is_chunked = "chunked" in headers.get("transfer-encoding", "")
    body = await (_chunks(reader) if is_chunked else reader.readexactly(int(headers.get("content-length", 0))))
    query = parse_qs(parts.query, keep_blank_values=True)
    return Request(method, parts.path, query, headers, body, is_chunked)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    chunks = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        chunks.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(chunks)


async def listen(handle: Handler, port: int) -> asyncio.Server:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await serve_connection(handle, reader, writer)

    return await asyncio.start_server(serve, "127.0.0.1", port, limit=_MOST_HEADER_BYTES * 16)
