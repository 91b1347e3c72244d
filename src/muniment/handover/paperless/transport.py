"""One HTTP call to Paperless. Transport errors are translated here, and the token is sent only in its header."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from muniment.handover.paperless.errors import OutcomeUnknown, PaperlessMisconfigured
from muniment.handover.paperless.models import Version, expect_shape
from muniment.handover.paperless.responses import CallKind, raise_for_status

_MIN_BYTES_PER_SECOND = 1_000_000
"""Slowest acceptable connection. The timeout of a large upload grows accordingly."""
_SMALLEST_LIST: Mapping[str, str | int] = {"page_size": 1, "fields": "id"}
_BUFFERED_UPLOAD_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class CloudflareAccess:
    """Service token for Cloudflare Access."""

    client_id: str
    client_secret: str

    def __repr__(self) -> str:
        return "CloudflareAccess(…)"


@dataclass(frozen=True)
class Timeouts:
    upload_seconds: float = 60
    seconds: float = 30


class PaperlessTransport:
    """HTTP connection to one Paperless server."""

    def __init__(
        self, url: str, token: str, *, access: CloudflareAccess | None, timeouts: Timeouts, connections: int
    ) -> None:
        self._root = url.rstrip("/")
        self._timeouts = timeouts
        self._version: Version | None = None
        # Without `Accept-Language` responses are in English; without a version the server would use its newest.
        headers = {"Authorization": f"Token {token}", "Accept": "application/json; version=9"}
        if access:
            headers |= {"CF-Access-Client-Id": access.client_id, "CF-Access-Client-Secret": access.client_secret}
        self._client = httpx.AsyncClient(
            headers=headers,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def version(self) -> Version:
        """Return the version of the server. Every response reports it; ask only if there was none yet."""
        if self._version is None:
            # This also verifies that the token may list documents.
            await self.get("/api/documents/", _SMALLEST_LIST)
        if self._version is None:
            raise PaperlessMisconfigured("The server at this address does not report a Paperless version")
        return self._version

    async def get(self, path: str, params: Mapping[str, Any] | None = None, *, kind: CallKind = CallKind.LIST) -> Any:
        return _parse_json(await self.call("GET", path, kind=kind, params=params))

    async def post(self, path: str, content: Mapping[str, Any], *, kind: CallKind) -> Any:
        return _parse_json(await self.call("POST", path, kind=kind, json=content))

    async def patch(self, path: str, content: Mapping[str, Any]) -> Any:
        return _parse_json(await self.call("PATCH", path, kind=CallKind.DOCUMENT, json=content))

    async def iter_rows(self, path: str, params: Mapping[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
        """Yield every row of a list, page by page."""
        async for page in self.iter_pages(path, params):
            for row in page["results"]:
                yield row

    async def iter_pages(self, path: str, params: Mapping[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the pages of a list, each with `count` and `results`."""
        page = _parse_page(await self.get(path, params))
        seen = set()
        yield page
        while page["next"]:
            # The server may not know its public address: only the path and the query of its link are used.
            next_page = _path_and_query(page["next"])
            if next_page in seen:
                raise OutcomeUnknown("Paperless returned a list that links to itself")
            seen.add(next_page)
            page = _parse_page(await self.get(next_page, kind=CallKind.NEXT_PAGE))
            yield page

    async def call(self, method: str, path: str, *, kind: CallKind, **content: Any) -> httpx.Response:
        """Send a request. Return a successful response, or raise the error that its status means."""
        return await self._send(self._build_request(method, path, self._timeouts.seconds, content), kind)

    async def upload(self, path: str, *, size: int, **content: Any) -> Any:
        timeout_seconds = self._timeouts.upload_seconds + size / _MIN_BYTES_PER_SECOND
        request = self._build_request("POST", path, timeout_seconds, content)
        if size <= _BUFFERED_UPLOAD_BYTES:
            request.read()  # otherwise every field of the form is sent in several packets
        return _parse_json(await self._send(request, CallKind.UPLOAD))

    def _build_request(self, method: str, path: str, seconds: float, content: Mapping[str, Any]) -> httpx.Request:
        return self._client.build_request(method, self._root + path, timeout=seconds, **content)

    async def _send(self, request: httpx.Request, kind: CallKind) -> httpx.Response:
        with _translate_errors():
            # The client's own timeout counts only silence; a server that sends byte by byte would block us forever.
            async with asyncio.timeout(request.extensions["timeout"]["read"]):
                response = await self._client.send(request)
        if response.status_code == httpx.codes.NOT_ACCEPTABLE:
            await self._raise_for_version()
        raise_for_status(response, kind)
        self._update_version(response)
        return response

    async def _raise_for_version(self) -> None:
        """After a 406, ask again without an API version, and raise an error that says which side is too old."""
        headers = {"Accept": "application/json"}
        request = self._client.build_request(
            "GET",
            f"{self._root}/api/documents/",
            params=_SMALLEST_LIST,
            headers=headers,
            timeout=self._timeouts.seconds,
        )
        with _translate_errors():
            response = await self._client.send(request)
        if text := response.headers.get("X-Version"):
            version = Version.parse(text)
            raise PaperlessMisconfigured(
                f"Paperless-ngx {version.major}.{version.minor} no longer supports API version 9. Upgrade Muniment"
            )

    @asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, Any]) -> AsyncIterator[httpx.Response]:
        """Stream a response of any size. The timeout applies to each chunk."""
        with _translate_errors():
            async with self._client.stream(
                "GET", self._root + path, params=params, timeout=self._timeouts.seconds
            ) as response:
                if not response.is_success:
                    await response.aread()
                raise_for_status(response, CallKind.DOCUMENT)
                if "Content-Disposition" not in response.headers:
                    raise OutcomeUnknown("Paperless did not return a file")
                yield response

    def _update_version(self, response: httpx.Response) -> None:
        """Update the version from a response: the server may be upgraded while we run."""
        if version := response.headers.get("X-Version"):
            self._version = Version.parse(version)


def _parse_json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise OutcomeUnknown("Paperless returned invalid JSON") from None


def _parse_page(body: Any) -> Mapping[str, Any]:
    with expect_shape():
        return {"count": int(body["count"]), "next": body["next"], "results": list(body["results"])}


def _path_and_query(link: str) -> str:
    with expect_shape():
        parts = urlsplit(link)
        # A prefix before it may be unknown to the server, if a proxy removes it. Ours is used instead.
        path = parts.path[parts.path.index("/api/") :]
    return f"{path}?{parts.query}"


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except (TimeoutError, httpx.TimeoutException):
        raise OutcomeUnknown("Paperless did not respond in time") from None
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise OutcomeUnknown(f"The connection to Paperless failed ({type(error).__name__})") from None
