from collections.abc import AsyncIterator
from http.cookies import Morsel, SimpleCookie

import httpx
import pytest

from muniment.http.dependencies import SECURE_SESSION_COOKIE, SESSION_COOKIE
from muniment.settings import Settings
from tests.accounts.browser import ME, browser_of, log_in, with_cookie
from tests.support.live_api import RunningApi, running_api
from tests.support.seed import Seed

TOKENS = "/api/v1/auth/tokens"


@pytest.fixture
async def https_api(settings: Settings) -> AsyncIterator[RunningApi]:
    """The API behind an HTTPS proxy."""
    server = settings.server.model_copy(update={"public_url": "https://127.0.0.1"})
    async with running_api(settings.model_copy(update={"server": server})) as api:
        yield api


def only_cookie(answer: httpx.Response) -> Morsel[str]:
    (line,) = answer.headers.get_list("set-cookie")
    (morsel,) = SimpleCookie(line).values()
    return morsel


async def test_cookie_is_http_only_and_lax_and_lives_as_long_as_the_session(api: RunningApi, seed: Seed) -> None:
    cookie = only_cookie(await log_in(api, seed.person().email))
    assert (cookie.key, cookie["httponly"], cookie["samesite"].lower(), cookie["path"]) == (
        SESSION_COOKIE,
        True,
        "lax",
        "/",
    )
    assert (cookie["secure"], cookie["domain"]) == ("", "")
    assert cookie["expires"] == seed.one(
        "SELECT to_char(expires_at, 'Dy, DD Mon YYYY HH24:MI:SS GMT') FROM sessions LIMIT 1"
    )


async def test_with_https_the_cookie_is_secure_and_bound_to_the_host(https_api: RunningApi, seed: Seed) -> None:
    cookie = only_cookie(await log_in(https_api, seed.person().email))
    assert (cookie.key, cookie["secure"], cookie["httponly"]) == (SECURE_SESSION_COOKIE, True, True)
    assert (cookie["path"], cookie["domain"], cookie["samesite"].lower()) == ("/", "", "lax")


async def test_with_https_the_secure_cookie_signs_in_and_logout_clears_it(https_api: RunningApi, seed: Seed) -> None:
    headers = {"Cookie": f"{SECURE_SESSION_COOKIE}={seed.session(seed.person())}"}
    assert (await https_api.anonymous.get(ME, headers=headers)).status_code == 200
    cleared = only_cookie(await https_api.anonymous.post("/api/v1/auth/logout", headers=headers))
    assert (cleared.key, cleared.value, cleared["secure"]) == (SECURE_SESSION_COOKIE, "", True)


async def test_with_https_a_cookie_without_the_prefix_counts_for_nothing(https_api: RunningApi, seed: Seed) -> None:
    """A neighboring subdomain could set such a cookie and make users work in someone else's account."""
    async with with_cookie(https_api, seed.session(seed.person())) as client:
        assert (await client.get(ME)).status_code == 401


async def test_write_that_another_site_started_is_refused_and_changes_nothing(api: RunningApi, seed: Seed) -> None:
    async with browser_of(api, seed, seed.person()) as client:
        before = seed.one("SELECT count(*) FROM api_tokens")
        answer = await client.post(TOKENS, json={"name": "theirs"}, headers={"Origin": "https://evil.example"})
    assert (answer.status_code, answer.json()) == (403, {"detail": "Cross-site request rejected"})
    assert seed.one("SELECT count(*) FROM api_tokens") == before


async def test_write_from_our_own_page_is_accepted(api: RunningApi, seed: Seed) -> None:
    async with browser_of(api, seed, seed.person()) as client:
        answer = await client.post(TOKENS, json={"name": "mine"}, headers={"Origin": api.url})
    assert answer.status_code == 201
