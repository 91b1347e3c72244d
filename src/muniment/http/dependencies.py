"""Dependencies of the endpoints: the services, the caller, a transaction, the session cookie."""

import hmac
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, cast
from uuid import UUID

from fastapi import Depends, Request, Response
from fastapi.security import APIKeyCookie, HTTPBearer

from muniment.accounts.credentials import digest
from muniment.accounts.repository import SignInRepository
from muniment.errors import NotSignedIn
from muniment.http.services import Services
from muniment.knowledge_bases.access import Access, get_access
from muniment.storage.db import base
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

SESSION_COOKIE = "muniment_session"


# The prefix makes browsers require Secure, Path=/ and no Domain; without https they would reject the cookie.
SECURE_SESSION_COOKIE = f"__Host-{SESSION_COOKIE}"


def session_secret(request: Request) -> str | None:
    # With https only the prefixed cookie counts, because a neighboring subdomain could set the other one.
    secure = cast("Services", request.app.state.services).secure_cookies
    return request.cookies.get(SECURE_SESSION_COOKIE if secure else SESSION_COOKIE)


def set_session_cookie(response: Response, secret: str, *, expires_at: datetime, secure: bool) -> None:
    response.set_cookie(
        SECURE_SESSION_COOKIE if secure else SESSION_COOKIE,
        secret,
        expires=expires_at,
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def clear_session_cookie(response: Response, *, secure: bool) -> None:
    response.delete_cookie(
        SECURE_SESSION_COOKIE if secure else SESSION_COOKIE, path="/", secure=secure, httponly=True, samesite="lax"
    )


# Only for the OpenAPI document; `get_principal` reads the credentials.
AUTH_SCHEMES = [
    Depends(HTTPBearer(auto_error=False, description="An API token, mun_…")),
    Depends(APIKeyCookie(name=SESSION_COOKIE, auto_error=False)),
]


# All are `async`, because FastAPI runs plain functions in a thread, which costs more than they do.


async def get_services(request: Request) -> Services:
    return cast("Services", request.app.state.services)


CurrentServices = Annotated[Services, Depends(get_services)]


async def get_address(request: Request) -> str | None:
    return request.client.host if request.client else None


ClientAddress = Annotated[str | None, Depends(get_address)]


async def get_principal(request: Request, services: CurrentServices, address: ClientAddress) -> Principal:
    """Return the caller by `Authorization: Bearer`, or else by the session cookie.

    An invalid token does not fall back to the cookie.
    """
    async with services.database.lookup_connection() as connection:
        principal = await _find_principal(request, SignInRepository(connection, address))
    if principal is None:
        raise NotSignedIn
    request.state.principal = principal  # for the access log
    return principal


async def _find_principal(request: Request, sign_ins: SignInRepository) -> Principal | None:
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme:
        known = scheme.lower() == "bearer" and credentials
        return await sign_ins.find_by_token(digest(credentials.strip())) if known else None
    cookie = session_secret(request)
    return await sign_ins.find_by_session(digest(cookie)) if cookie else None


def is_signed_in_by_session(request: Request) -> bool:
    """Return whether the caller was recognized by the session cookie, and not by an API token."""
    return not request.headers.get("authorization")


async def require_still_signed_in(request: Request, work: Work[Principal]) -> None:
    """Raise `NotSignedIn` if the session or token of the request has ended since the request began."""
    if await _find_principal(request, SignInRepository(work.session)) is None:
        raise NotSignedIn


CurrentPrincipal = Annotated[Principal, Depends(get_principal)]


async def get_work(services: CurrentServices, principal: CurrentPrincipal) -> AsyncIterator[Work[Principal]]:
    async with services.database.work(principal) as work:
        yield work


# By default a `yield` dependency ends after the response was sent: a failed commit would follow a 201.
CurrentWork = Annotated[Work[Principal], Depends(get_work, scope="function")]


async def get_kb_access(kb_id: UUID, services: CurrentServices, principal: CurrentPrincipal) -> Access:
    """Return the caller's access to the knowledge base, in a transaction that ends before the body is read."""
    async with services.database.work(principal) as work:
        return await get_access(work, kb_id)


KBAccess = Annotated[Access, Depends(get_kb_access)]


async def get_now() -> datetime:
    return base.now()


Now = Annotated[datetime, Depends(get_now)]


def secrets_equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())
