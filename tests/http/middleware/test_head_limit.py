import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from muniment.api import uvicorn_config
from muniment.http.middleware.limits import MAX_HEAD_BYTES, HeaderLimitProtocol
from muniment.settings import Settings
from tests.support.live_server import serving

SHORT_SECONDS = 0.3


class ShortTimeoutProtocol(HeaderLimitProtocol):
    head_seconds = SHORT_SECONDS


async def reads_and_answers(scope: Scope, receive: Receive, send: Send) -> None:
    await Request(scope, receive).body()
    await PlainTextResponse("hello")(scope, receive, send)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving(reads_and_answers, http=HeaderLimitProtocol) as client:
        yield client.base_url.port or 0


async def talk(port: int, *pieces: bytes) -> bytes:
    """Return what the server sends before it closes the connection, or within two seconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return await asyncio.wait_for(reader.read(), 2)
    except (ConnectionResetError, BrokenPipeError):
        return b""
    finally:
        writer.close()


async def test_an_endless_header_is_cut_off(port: int) -> None:
    answer = await talk(port, b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ", b"x" * MAX_HEAD_BYTES, b"x" * 10)
    assert answer.startswith(b"HTTP/1.1 431")


async def test_endlessly_many_headers_are_cut_off(port: int) -> None:
    many = b"".join(b"X-%d: b\r\n" % number for number in range(10_000))
    assert (await talk(port, b"GET / HTTP/1.1\r\nHost: x\r\n", many)).startswith(b"HTTP/1.1 431")


async def test_an_endless_path_is_cut_off(port: int) -> None:
    assert (await talk(port, b"GET /", b"x" * MAX_HEAD_BYTES, b"x" * 10)).startswith(b"HTTP/1.1 431")


async def test_a_large_body_behind_a_short_head_is_none_of_its_business(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n"
    assert b"200 OK" in await talk(port, head, b"x" * 200_000)


async def test_the_second_request_of_a_connection_is_counted_anew(port: int) -> None:
    long = b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * (MAX_HEAD_BYTES // 2)
    answer = await talk(port, long + b"\r\n\r\n", long + b"\r\nConnection: close\r\n\r\n")
    assert answer.count(b"200 OK") == 2


async def test_a_head_that_does_not_end_and_a_connection_that_says_nothing_are_closed() -> None:
    async with serving(reads_and_answers, http=ShortTimeoutProtocol) as client:
        port = client.base_url.port or 0
        assert (await talk(port, b"GET / HTTP/1.1\r\nHost: x\r\n")).startswith(b"HTTP/1.1 408")
        assert (await talk(port)).startswith(b"HTTP/1.1 408")


def test_the_server_in_production_uses_it() -> None:
    config = uvicorn_config(Settings(), reads_and_answers)
    config.load()
    assert config.http_protocol_class is HeaderLimitProtocol
