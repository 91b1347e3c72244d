"""HTTP client of a running Muniment server with an API token, for the commands `search` and `mcp`."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, Self, TypeVar
from uuid import UUID

import httpx
from pydantic import BaseModel, ValidationError

from muniment.errors import Forbidden, Invalid, MunimentError, NotFound, NotSignedIn, TooManyRequests, Unavailable

Mode = Literal["hybrid", "vector", "text"]
TIMEOUT_SECONDS = 60.0
LIST_LIMIT = 100

_NO_SUCH_ROUTE = "Not Found"
"""Message of the framework for an unknown route. Our own 404 messages name what was not found."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class NoToken(MunimentError):
    """No API token. Create one under Account and set MUNIMENT_TOKEN"""


class TokenMalformed(MunimentError):
    """Invalid API token. It contains spaces or other characters that are not allowed"""


class AddressMalformed(MunimentError):
    """The address of the server must look like https://documents.example.org"""


class NotMuniment(MunimentError):
    """The server is not Muniment"""


class PassageItem(BaseModel):
    document_id: UUID
    document_name: str
    kb_id: UUID
    page: int
    snippet: str
    highlights: list[tuple[int, int]]
    score: float
    image_url: str | None


class SearchResponse(BaseModel):
    items: list[PassageItem]
    mode: Mode
    """The mode that was used: `text` for a hybrid query while the embedding model is unavailable."""
    took_ms: float


class KnowledgeBaseItem(BaseModel):
    id: UUID
    name: str
    description: str
    role: str


class DocumentInfo(BaseModel):
    id: UUID
    kb_id: UUID
    name: str
    media_type: str
    total_pages: int | None

    @property
    def has_page_images(self) -> bool:
        """Whether the file type has page images."""
        return self.media_type == "application/pdf" or self.media_type.startswith("image/")


class PageTextRead(BaseModel):
    page_number: int
    text: str


ModelT = TypeVar("ModelT", bound=BaseModel)


class KnowledgeBaseList(BaseModel):
    items: list[KnowledgeBaseItem]
    total: int


class ApiClient:
    """HTTP client with the permissions of the token's owner.

    Every failure is a `MunimentError` with a message that never contains the token. Redirects are not followed, so the
    token is sent only to the given address.
    """

    def __init__(self, url: str, token: str | None, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        if not token:
            raise NoToken
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise TokenMalformed
        self.url = _validate_url(url)
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout_seconds,
            # A server on this machine is called directly, without a proxy from the environment.
            trust_env=httpx.URL(self.url).host not in _LOOPBACK,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def search(
        self, query: str, *, kb_ids: Sequence[UUID] = (), limit: int = 10, mode: Mode = "hybrid"
    ) -> SearchResponse:
        parameters = {"q": query, "kb_id": [str(kb_id) for kb_id in kb_ids], "limit": limit, "mode": mode}
        return await self._get("search", SearchResponse, parameters)

    async def list_knowledge_bases(self) -> Sequence[KnowledgeBaseItem]:
        """Return all knowledge bases, page by page."""
        found: list[KnowledgeBaseItem] = []
        while True:
            page = len(found) // LIST_LIMIT + 1
            answer = await self._get("knowledge-bases", KnowledgeBaseList, {"page": page, "limit": LIST_LIMIT})
            found += answer.items
            if len(answer.items) < LIST_LIMIT:
                return found

    async def get_document(self, kb_id: UUID, document_id: UUID) -> DocumentInfo:
        return await self._get(_path(kb_id, document_id), DocumentInfo)

    async def get_page(self, kb_id: UUID, document_id: UUID, number: int) -> PageTextRead:
        return await self._get(f"{_path(kb_id, document_id)}/pages/{number}", PageTextRead)

    @asynccontextmanager
    async def stream_text(self, kb_id: UUID, document_id: UUID) -> AsyncIterator[AsyncIterator[str]]:
        """Stream the text of all pages; a form feed ends each page. The stream may be left early."""
        async with self._request(f"{_path(kb_id, document_id)}/text") as answer:
            yield answer.aiter_text()

    def image_url(self, kb_id: UUID, document_id: UUID, number: int) -> str:
        return self.absolute_url(f"/api/v1/{_path(kb_id, document_id)}/pages/{number}/image")

    def absolute_url(self, path: str) -> str:
        return f"{self.url}{path}"

    async def _get(self, path: str, kind: type[ModelT], parameters: Mapping[str, Any] | None = None) -> ModelT:
        async with self._request(path, parameters) as answer:
            body = await answer.aread()
        try:
            return kind.model_validate_json(body)
        except ValidationError:
            raise self._not_muniment() from None

    @asynccontextmanager
    async def _request(self, path: str, parameters: Mapping[str, Any] | None = None) -> AsyncIterator[httpx.Response]:
        try:
            async with self._http.stream("GET", f"/api/v1/{path}", params=parameters) as answer:
                if answer.status_code != 200:
                    await answer.aread()
                    raise self._error_from(answer)
                yield answer
        except httpx.TimeoutException:
            raise Unavailable(f"{self.url} timed out. Try again shortly") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
            raise Unavailable(
                f"Cannot connect to Muniment at {self.url}. Start it with `muniment serve` or set MUNIMENT_URL"
            ) from None

    def _error_from(self, response: httpx.Response) -> MunimentError:
        if response.status_code == 401:
            return NotSignedIn("Invalid API token. It was revoked, has expired or belongs to another server")
        try:
            sentence = _error_message(response.json()["detail"])
        except (ValueError, KeyError, TypeError):
            return self._not_muniment()
        if sentence == _NO_SUCH_ROUTE:
            return self._not_muniment()
        if response.status_code == 429:
            return TooManyRequests(sentence, retry_after_seconds=1)
        kinds: dict[int, type[MunimentError]] = {403: Forbidden, 404: NotFound, 422: Invalid, 503: Unavailable}
        return kinds.get(response.status_code, MunimentError)(sentence)

    def _not_muniment(self) -> NotMuniment:
        return NotMuniment(f"The server at {self.url} is not Muniment or runs another version")


def _path(kb_id: UUID, document_id: UUID) -> str:
    return f"knowledge-bases/{kb_id}/documents/{document_id}"


def _error_message(detail: Any) -> str:
    """Join a list of validation problems into one line."""
    if isinstance(detail, str):
        return detail
    return "; ".join(
        f"{problem['loc'][-1]}: {problem['msg']}" if len(problem["loc"]) > 1 else problem["msg"] for problem in detail
    )


def _validate_url(url: str) -> str:
    try:
        parts = httpx.URL(url.strip())
    except httpx.InvalidURL:
        raise AddressMalformed from None
    # Credentials in the URL would be sent instead of the token and repeated in error messages.
    if parts.scheme not in ("http", "https") or not parts.host or parts.userinfo or parts.query or parts.fragment:
        raise AddressMalformed
    return str(parts).rstrip("/")
