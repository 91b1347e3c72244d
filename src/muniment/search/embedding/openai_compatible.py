"""Embedding models behind OpenAI's `POST /embeddings` API: requests, retries and validation of responses.

Errors of the service end here; texts and the key go nowhere else.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Annotated, Any

import httpx
import structlog
from pydantic import BaseModel, Field, ValidationError
from tenacity import AsyncRetrying, RetryCallState, RetryError, retry_if_exception_type, stop_after_attempt

from muniment.search.embedding.port import EmbeddingsRefused, EmbeddingsUnavailable, Vector, normalize
from muniment.storage.db.base import now


@dataclass(frozen=True)
class RetryBackoff:
    """Exponential backoff with jitter, so that clients that failed together do not retry together."""

    attempts: int = 5
    first_seconds: float = 0.5
    max_seconds: float = 60

    def wait_seconds(self, attempt: int, retry_after: str | None, jitter: float) -> float:
        """Return the wait after the `attempt`-th failure, at least what the server asks; `jitter` is from 0 to 1."""
        backoff = min(self.first_seconds * 2.0 ** (attempt - 1), self.max_seconds)
        requested = min(_retry_after_seconds(retry_after), self.max_seconds)
        return max(backoff * (0.5 + jitter / 2), requested)


def _retry_after_seconds(retry_after: str | None) -> float:
    """Parse seconds or a date (RFC 9110 §10.2.3); return 0 for anything else."""
    if not retry_after:
        return 0
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((aware - now()).total_seconds(), 0)


class _EmbeddingItem(BaseModel):
    index: Annotated[int, Field(ge=0)]
    embedding: list[Annotated[float, Field(allow_inf_nan=False)]]


class _EmbeddingsResponse(BaseModel):
    data: list[_EmbeddingItem]


def parse_embeddings(response: object, *, count: int, dimensions: int) -> list[Vector]:
    """Return the vectors in the order of the texts, scaled to unit length, or raise `EmbeddingsRefused`."""
    try:
        items = _EmbeddingsResponse.model_validate(response).data
    except ValidationError:
        # Without pydantic's message, which quotes parts of the response.
        raise EmbeddingsRefused("The embedding service returned an unexpected response") from None
    if sorted(item.index for item in items) != list(range(count)):
        raise EmbeddingsRefused(f"The embedding service returned {len(items)} vectors for {count} texts")
    return [_validated(item.embedding, dimensions) for item in sorted(items, key=lambda item: item.index)]


def _validated(embedding: Sequence[float], dimensions: int) -> Vector:
    if len(embedding) != dimensions:
        raise EmbeddingsRefused(
            f"The embedding service's vectors have {len(embedding)} dimensions, but {dimensions} are configured"
        )
    vector = normalize(embedding)
    if vector is None:
        raise EmbeddingsRefused("The embedding service returned a zero vector")
    return vector


log = structlog.get_logger()


_BYTES_PER_TOKEN = 3


_RETRYABLE_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
"""Statuses after which another attempt may succeed."""


class _Retryable(Exception):
    def __init__(self, reason: str, retry_after: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


def _retryable_error(state: RetryCallState) -> _Retryable:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, _Retryable)
    return error


class OpenAICompatibleEmbedder:
    """Client of an embedding service. `url` is the address above `/embeddings`, as in `https://api.openai.com/v1`."""

    def __init__(
        self,
        *,
        url: str,
        model: str,
        dimensions: int,
        key: str | None = None,
        max_tokens: int = 512,
        batch: int = 32,
        timeout_seconds: float = 30,
        backoff: RetryBackoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self._batch = batch
        self._timeout_seconds = timeout_seconds
        self._backoff = backoff or RetryBackoff()
        self._sleep = sleep
        self._jitter = jitter
        self._url = f"{url.rstrip('/')}/embeddings"
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else None, timeout=timeout_seconds
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        # Without the address: a model gives the same vectors wherever it runs.
        return {"model": self.model, "dimensions": self.dimensions, "max_tokens": self.max_tokens}

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens on the safe side: models count differently, and English has four bytes per token."""
        return -(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch):
            vectors += await self._embed(texts[start : start + self._batch])
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await self._embed([text]))[0]

    async def close(self) -> None:
        await self._client.aclose()

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        def log_failure(state: RetryCallState) -> None:
            reason = _retryable_error(state).reason
            log.warning("embeddings.failed", reason=reason, attempt=state.attempt_number, texts=len(texts))

        attempts = AsyncRetrying(
            retry=retry_if_exception_type(_Retryable),
            stop=stop_after_attempt(self._backoff.attempts),
            wait=self._wait_seconds,
            sleep=self._sleep,
            after=log_failure,
        )
        try:
            body: object = await attempts(self._request, texts)
        except RetryError:
            raise EmbeddingsUnavailable from None
        return parse_embeddings(body, count=len(texts), dimensions=self.dimensions)

    def _wait_seconds(self, state: RetryCallState) -> float:
        return self._backoff.wait_seconds(state.attempt_number, _retryable_error(state).retry_after, self._jitter())

    async def _request(self, texts: Sequence[str]) -> object:
        try:
            # The client's own timeout limits silence only; a server that sends slowly would never time out.
            async with asyncio.timeout(self._timeout_seconds):
                response = await self._client.post(self._url, json={"model": self.model, "input": list(texts)})
        except (TimeoutError, httpx.TimeoutException):
            raise _Retryable("timeout") from None
        except httpx.TransportError as error:
            raise _Retryable(type(error).__name__) from None
        except httpx.HTTPError:
            raise EmbeddingsRefused("The embedding service returned an invalid response") from None
        if response.status_code in _RETRYABLE_STATUSES:
            raise _Retryable(f"status {response.status_code}", response.headers.get("Retry-After"))
        if response.status_code != httpx.codes.OK:
            # Without its message: some services repeat the text or the key.
            raise EmbeddingsRefused(f"The embedding service rejected the request with status {response.status_code}")
        try:
            body: object = response.json()
        except ValueError:
            raise EmbeddingsRefused("The embedding service returned invalid JSON") from None
        return body
