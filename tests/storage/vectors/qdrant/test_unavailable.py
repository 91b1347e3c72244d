"""A server that does not respond, is too slow or rejects us: always `Unavailable`, and the key in no log."""

from collections.abc import Awaitable, Callable

import pytest
import structlog

from muniment.errors import Unavailable
from muniment.storage.vectors.port import ExternalIndex
from muniment.storage.vectors.qdrant.connection import build_client
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.support.log_lines import capture_logs
from tests.support.qdrant import MODEL, NO_WORK, a_document, points, serving, status

KEY = "kept-to-ourselves"
NOBODY = "http://127.0.0.1:1"
DOCUMENT = a_document()

CALLS: dict[str, Callable[[ExternalIndex], Awaitable[object]]] = {
    "put": lambda index: index.upsert(DOCUMENT, MODEL, 1, points((1, 0))),
    "remove": lambda index: index.delete_document(DOCUMENT),
    "set_visible": lambda index: index.set_visible(DOCUMENT, is_visible=True),
    "count": lambda index: index.count(DOCUMENT),
    "nearest": lambda index: index.nearest(NO_WORK, MODEL, [DOCUMENT.kb_id], (1, 0), limit=1),
    "check": lambda index: index.check(),
}


async def fails(index: QdrantIndex, call: str) -> Unavailable:
    with pytest.raises(Unavailable) as raised:
        await CALLS[call](index)
    await index.close()
    return raised.value


@pytest.mark.parametrize("call", CALLS)
async def test_nobody_there(call: str) -> None:
    await fails(QdrantIndex(build_client(NOBODY)), call)


@pytest.mark.parametrize("call", CALLS)
async def test_silence_ends_at_the_limit(call: str) -> None:
    async with serving(None) as url:
        await fails(QdrantIndex(build_client(url), timeout_seconds=0.05), call)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("code", [400, 401, 404, 409, 422, 429, 500, 503])
async def test_an_answer_that_is_none(call: str, code: int) -> None:
    async with serving(status(code)) as url:
        await fails(QdrantIndex(build_client(url)), call)


@pytest.mark.parametrize("call", CALLS)
async def test_an_answer_that_makes_no_sense(call: str) -> None:
    async with serving(status(200, b"welcome to the router")) as url:
        await fails(QdrantIndex(build_client(url)), call)


async def test_a_key_that_is_refused_is_named_as_the_cause() -> None:
    async with serving(status(403)) as url:
        error = await fails(QdrantIndex(build_client(url, KEY)), "check")
    assert "QDRANT_API_KEY" in str(error)


async def test_the_key_is_sent_and_stands_in_no_log(capsys: pytest.CaptureFixture[str]) -> None:
    heads: list[bytes] = []

    def refuse(head: bytes) -> bytes:
        heads.append(head)
        return status(500, head)(head)  # as some proxies do

    with capture_logs(capsys) as read:
        for url_of in (serving(refuse), serving(None)):
            async with url_of as url:
                index = QdrantIndex(build_client(url, KEY), timeout_seconds=0.2)
                try:
                    await index.check()
                except Unavailable as error:
                    structlog.get_logger().error("test.failed", index=repr(index), exc_info=error)
                await index.close()
        written = read()

    assert any(KEY.encode() in head for head in heads)
    assert "test.failed" in [line["event"] for line in written]
    assert KEY not in str(written)
