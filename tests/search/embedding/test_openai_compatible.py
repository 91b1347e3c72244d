"""A real server on the loopback interface that misbehaves in every possible way."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from muniment.search.embedding.openai_compatible import OpenAICompatibleEmbedder, RetryBackoff
from muniment.search.embedding.port import EmbeddingsRefused, EmbeddingsUnavailable
from muniment.storage.db.base import now
from tests.support.live_server import serving

KEY, SECRET_TEXT = "sk-very-secret", "the secret terms of the merger"


def vectors(count: int) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": [float(index + 1), 0.0, 0.0]} for index in range(count)]}


@dataclass
class Service:
    """Sends the configured responses first, then correct ones."""

    answers: list[Response | None] = field(default_factory=list)
    """`None` is a response that never comes."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.json()
        self.asked.append({"path": request.url.path, **body})
        self.keys.append(request.headers.get("Authorization"))
        answer = self.answers.pop(0) if self.answers else JSONResponse(vectors(len(body["input"])))
        if answer is None:
            await receive()  # until the client has disconnected
        else:
            await answer(scope, receive, send)


@dataclass
class RecordedSleeps:
    seconds: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@asynccontextmanager
async def embedder_of(service: Service, sleeps: RecordedSleeps | None = None, **options: Any) -> AsyncIterator[Any]:
    async with serving(service) as client:
        embedder = OpenAICompatibleEmbedder(
            **{
                "url": f"{client.base_url}/v1/",
                "model": "some-model",
                "dimensions": 3,
                "key": KEY,
                "backoff": RetryBackoff(attempts=3),
                "sleep": sleeps or RecordedSleeps(),
                "jitter": lambda: 1.0,
                **options,
            }
        )
        yield embedder
        await embedder.close()


async def test_texts_are_sent_in_batches_with_model_and_key_and_come_back_as_unit_vectors() -> None:
    service = Service()
    async with embedder_of(service, batch=2) as embedder:
        assert await embedder.embed(["a", "b", "c"]) == [[1, 0, 0]] * 3
        assert await embedder.embed_query("d") == [1, 0, 0]
    assert [asked["input"] for asked in service.asked] == [["a", "b"], ["c"], ["d"]]
    assert {(asked["path"], asked["model"]) for asked in service.asked} == {("/v1/embeddings", "some-model")}
    assert set(service.keys) == {f"Bearer {KEY}"}


async def test_without_a_key_none_is_sent() -> None:
    service = Service()
    async with embedder_of(service, key=None) as embedder:
        await embedder.embed_query("a")
    assert service.keys == [None]


async def test_vectors_are_put_into_the_order_of_the_texts() -> None:
    answer = {"data": [{"index": 1, "embedding": [0, 1, 0]}, {"index": 0, "embedding": [2, 0, 0]}]}
    async with embedder_of(Service([JSONResponse(answer)])) as embedder:
        assert await embedder.embed(["a", "b"]) == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("trouble", [429, 500, 503, None], ids=str)
async def test_a_passing_trouble_is_tried_again(trouble: int | None) -> None:
    service, sleeps = Service([trouble and Response(status_code=trouble)] * 2), RecordedSleeps()  # type: ignore[list-item]
    async with embedder_of(service, sleeps, timeout_seconds=0.2 if trouble is None else 30) as embedder:
        assert await embedder.embed_query("a") == [1, 0, 0]
    assert sleeps.seconds == [0.5, 1]


async def test_a_server_that_asks_for_time_gets_it_within_bounds() -> None:
    soon = format_datetime(now() + timedelta(seconds=30), usegmt=True)
    busy = [Response(status_code=429, headers={"Retry-After": wanted}) for wanted in ("7", soon, "86400", "nonsense")]
    sleeps = RecordedSleeps()
    async with embedder_of(Service([*busy]), sleeps, backoff=RetryBackoff(attempts=5)) as embedder:
        await embedder.embed_query("a")
    seven, date, longest, nonsense = sleeps.seconds
    assert (seven, longest, nonsense) == (7, 60, 4)
    assert 20 < date <= 30


async def test_a_trouble_that_stays_is_unavailable() -> None:
    service, sleeps = Service([Response(status_code=503)] * 9), RecordedSleeps()
    async with embedder_of(service, sleeps) as embedder:
        with pytest.raises(EmbeddingsUnavailable):
            await embedder.embed_query("a")
    assert (len(service.asked), len(sleeps.seconds)) == (3, 2)


async def _ended(receive: Receive) -> None:
    await receive()


async def test_a_server_that_drips_is_given_up() -> None:
    async def drip(_: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        gone = asyncio.create_task(_ended(receive))
        while not gone.done():
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.sleep(0.01)

    async with embedder_of(Service([drip]), timeout_seconds=0.3) as embedder:  # type: ignore[list-item]
        assert await embedder.embed_query("a") == [1, 0, 0]


async def test_nobody_there_is_unavailable() -> None:
    async with embedder_of(Service()) as embedder:
        pass
    gone = OpenAICompatibleEmbedder(
        url=embedder._url, model="m", dimensions=3, sleep=RecordedSleeps(), timeout_seconds=5
    )
    with pytest.raises(EmbeddingsUnavailable):
        await gone.embed_query("a")
    await gone.close()


def with_embedding(text: str) -> Callable[[], Response]:
    return lambda: Response(f'{{"data": [{{"index": 0, "embedding": {text}}}]}}', media_type="application/json")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: JSONResponse(vectors(2)), "2 vectors for 1 texts"),
        (lambda: JSONResponse(vectors(0)), "0 vectors for 1 texts"),
        (lambda: JSONResponse({"data": [{"index": 5, "embedding": [1, 0, 0]}]}), "1 vectors for 1 texts"),
        (with_embedding("[1, 0]"), "2 dimensions, but 3"),
        (with_embedding("[1, NaN, 0]"), "an unexpected response"),
        (with_embedding("[1, 1e999, 0]"), "an unexpected response"),
        (with_embedding("[0, 0, 0]"), "a zero vector"),
        (with_embedding(json.dumps(SECRET_TEXT)), "an unexpected response"),
        (lambda: JSONResponse([SECRET_TEXT]), "an unexpected response"),
        (lambda: Response(SECRET_TEXT), "invalid JSON"),
        (lambda: Response(f"wrong key {KEY}", status_code=401), "status 401"),
        (lambda: Response(status_code=307, headers={"Location": "http://127.0.0.1:1/"}), "status 307"),
    ],
)
async def test_nonsense_is_refused_at_once_with_a_sentence_that_tells_no_secret(
    answer: Callable[[], Response], message: str
) -> None:
    service = Service([answer()])
    with capture_logs() as logs:
        async with embedder_of(service) as embedder:
            with pytest.raises(EmbeddingsRefused, match=message) as refused:
                await embedder.embed([SECRET_TEXT])
    assert len(service.asked) == 1
    assert refused.value.__cause__ is None
    for said in (str(refused.value), repr(logs), repr(vars(embedder))):
        assert KEY not in said
        assert SECRET_TEXT not in said


async def test_retries_are_logged_without_text_or_key() -> None:
    with capture_logs() as logs:
        async with embedder_of(Service([Response(SECRET_TEXT, status_code=500)])) as embedder:
            await embedder.embed([SECRET_TEXT])
    assert logs == [
        {"event": "embeddings.failed", "log_level": "warning", "reason": "status 500", "attempt": 1, "texts": 1}
    ]


def test_tokens_are_never_guessed_too_few() -> None:
    embedder = OpenAICompatibleEmbedder(url="http://127.0.0.1:1", model="m", dimensions=3)
    assert embedder.count_tokens("four words are here") >= 4
    assert embedder.count_tokens("契約は有効") >= 5


def test_the_address_and_the_key_are_no_part_of_the_variant() -> None:
    one, other = (
        OpenAICompatibleEmbedder(url=url, model="m", dimensions=3, key=url) for url in ("http://a/", "http://b/")
    )
    assert one.parameters == other.parameters
