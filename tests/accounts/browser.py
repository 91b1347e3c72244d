"""Users as a browser represents them: signed in by cookie, not by token."""

import httpx

from muniment.http.dependencies import SESSION_COOKIE
from tests.support.clients import local_client
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Person, Seed

ME = "/api/v1/auth/me"
LOGIN = "/api/v1/auth/login"


async def log_in(api: RunningApi, email: str, password: str = PASSWORD, **more: object) -> httpx.Response:
    """Try to sign in once, with a client without cookies."""
    async with fresh_client(api) as client:
        return await client.post(LOGIN, json={"email": email, "password": password, **more})


def browser_of(api: RunningApi, seed: Seed, person: Person) -> httpx.AsyncClient:
    return with_cookie(api, seed.session(person))


def with_cookie(api: RunningApi, secret: str) -> httpx.AsyncClient:
    return local_client(api.url, cookies={SESSION_COOKIE: secret})


def fresh_client(api: RunningApi) -> httpx.AsyncClient:
    return local_client(api.url)
