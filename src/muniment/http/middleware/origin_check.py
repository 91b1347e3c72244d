"""Refuse requests that a foreign page makes through a user's browser.

*DNS rebinding*: a foreign page lets its own name resolve to our address and then reads us as its own origin; the name
it uses is in `Host`. *Cross-site requests*: a foreign page sends a form here and the browser adds our cookie; the
page's address is in `Origin`, which no page can forge.
"""

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
PROBES = frozenset({"/health/live", "/health/ready"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
TRUSTED_FETCH_SITES = frozenset({"same-origin", "none"})
DEFAULT_PORTS = {"http": 80, "https": 443}

# Only a host and a port: no user, no path, and no trailing dot, which would be another name to the browser.
AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::(?P<port>[0-9]{1,5}))?")


class Origin(NamedTuple):
    scheme: str
    host: str
    port: int


class OriginCheck:
    """Refuses unknown hosts (400) and writes started by another site (403), before the body is read.

    Only `Authorization: Bearer` exempts a write from the second check, because no foreign page can add it; a link with
    user and password makes the browser send `Basic` along with our cookie. `X-Forwarded-Host` is ignored.
    """

    def __init__(self, app: ASGIApp, *, public_url: str | None, listening_host: str) -> None:
        self._app = app
        self._public = _origin_of_url(public_url) if public_url else None
        self._hosts = LOOPBACK | _specific_host(listening_host) | ({self._public.host} if self._public else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._reject(scope)):
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _reject(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        if scope["path"] in PROBES:
            return None  # orchestrators use the address of the machine, and the response contains only the state
        origin = _parse_origin(scope["scheme"], _single_header(headers, "Host"))
        if origin is None or origin.host not in self._hosts:
            return JSONResponse(
                {"detail": "Unknown host. Set MUNIMENT_PUBLIC_URL to the address people use"},
                status_code=400,
            )
        if scope["method"] in SAFE_METHODS or _has_bearer(headers) or self._is_same_origin(headers, origin):
            return None
        return JSONResponse({"detail": "Cross-site request rejected"}, status_code=403)

    def _is_same_origin(self, headers: Headers, requested: Origin) -> bool:
        if "Origin" not in headers:
            # Missing from other programs than browsers, and from very old browsers.
            return headers.get("Sec-Fetch-Site", "none").lower() in TRUSTED_FETCH_SITES
        scheme, _, authority = (_single_header(headers, "Origin") or "").lower().partition("://")
        origin = _parse_origin(scheme, authority)
        if self._public and requested.host == self._public.host:
            # A proxy terminates TLS, so that we see http; a page loaded over http is not our own.
            return origin == self._public
        return origin is not None and origin in (requested, self._public)


def _single_header(headers: Headers, name: str) -> str | None:
    """Return the header unless it occurs several times: components could disagree about which one counts."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else None


def _parse_origin(scheme: str, authority: str | None) -> Origin | None:
    found = AUTHORITY.fullmatch((authority or "").lower())
    if found is None or scheme not in DEFAULT_PORTS:
        return None
    return Origin(scheme, found["host"], int(found["port"] or DEFAULT_PORTS[scheme]))


def _origin_of_url(url: str) -> Origin:
    parts = urlsplit(url)
    return Origin(parts.scheme, _normalize_host(parts.hostname or ""), parts.port or DEFAULT_PORTS[parts.scheme])


def _specific_host(listening_host: str) -> set[str]:
    """Return the listening host, or `None` if it stands for all addresses."""
    address = _parse_address(listening_host)
    is_wildcard = not listening_host or (address is not None and address.is_unspecified)
    return set() if is_wildcard else {_normalize_host(listening_host)}


def _normalize_host(host: str) -> str:
    """Return the host as browsers write it: IPv6 in brackets, international names in ASCII."""
    address = _parse_address(host)
    if address is None:
        return host.lower().encode("idna").decode("ascii")
    return f"[{address}]" if address.version == 6 else str(address)


def _parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _has_bearer(headers: Headers) -> bool:
    return headers.get("Authorization", "").lower().startswith("bearer ")
