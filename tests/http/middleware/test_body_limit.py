import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from muniment.http.middleware.limits import BodyLimit
from tests.support.live_api import RunningApi
from tests.support.live_server import serving

MEBIBYTE = 1024 * 1024


async def test_a_large_body_is_refused_before_it_is_read_or_authenticated(api: RunningApi) -> None:
    answer = await api.anonymous.post("/api/v1/auth/login", content=b"x" * (MEBIBYTE + 1))
    assert answer.status_code == 413


async def test_a_body_that_does_not_say_its_length_is_refused_when_it_becomes_too_large(api: RunningApi) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield b"x" * 65536

    answer = await api.anonymous.post("/api/v1/auth/login", content=endless())
    assert answer.status_code == 413


async def test_a_body_within_the_limit_is_read(api: RunningApi) -> None:
    answer = await api.anonymous.post("/api/v1/auth/login", content=b"x" * (MEBIBYTE - 10))
    assert answer.status_code == 422


@pytest.mark.parametrize("path", ["documents", "documents/01900000-0000-7000-8000-000000000000/replace"])
async def test_files_are_streamed_and_may_be_larger(api: RunningApi, path: str) -> None:
    large = {"file": ("large.txt", b"x" * (2 * MEBIBYTE))}
    answer = await api.anonymous.post(f"/api/v1/knowledge-bases/{uuid4()}/{path}", files=large)
    assert answer.status_code == 401  # not 413: only authorized users meet the limit for uploads


async def test_whoever_falls_silent_in_the_middle_of_a_small_body_is_answered_408() -> None:
    async def reads(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await Request(scope, receive).body()
        except HTTPException as error:
            await PlainTextResponse(error.detail, error.status_code)(scope, receive, send)

    async with serving(BodyLimit(reads, stalled_seconds=0.1)) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
        assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"HTTP/1.1 408")
        writer.close()
