from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import httpx

from muniment.accounts.credentials import digest
from tests.accounts.browser import ME, browser_of
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

TOKENS = "/api/v1/auth/tokens"


async def me_with(api: RunningApi, token: str) -> httpx.Response:
    return await api.anonymous.get(ME, headers={"Authorization": f"Bearer {token}"})


async def test_a_token_is_shown_once_and_signs_in(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with browser_of(api, seed, person) as client:
        created = (await client.post(TOKENS, json={"name": "laptop"})).json()
        listed = (await client.get(TOKENS)).json()
    assert set(created) == {"id", "name", "token", "expires_at"}
    assert created["token"].startswith("mun_")
    assert created["token"] not in str(listed)
    assert (await me_with(api, created["token"])).json()["id"] == str(person.id)


async def test_list_has_names_and_times_and_no_secret(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with api.client(person) as client:
        listed = (await client.get(TOKENS)).json()
    assert (listed["total"], listed["page"], listed["limit"]) == (1, 1, 20)
    assert set(listed["items"][0]) == {"id", "name", "created_at", "expires_at", "last_used_at"}
    assert listed["items"][0]["name"] == "test"


async def test_list_is_paged_and_holds_my_own_only(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True, is_operator=True)
    seed.person(admin.organization_id)
    for _ in range(2):
        seed.token(admin.id, admin.organization_id)
    async with api.client(admin) as client:
        pages = [(await client.get(TOKENS, params={"page": page, "limit": 2})).json() for page in (1, 2)]
    assert [page["total"] for page in pages] == [3, 3]
    assert [len(page["items"]) for page in pages] == [2, 1]


async def test_database_holds_the_hash_and_nothing_of_the_token(api: RunningApi, seed: Seed) -> None:
    async with browser_of(api, seed, seed.person()) as client:
        created = (await client.post(TOKENS, json={"name": "laptop"})).json()
    ((stored, row),) = seed.rows(
        "SELECT token_hash, api_tokens::text FROM api_tokens WHERE id = %s", UUID(created["id"])
    )
    assert stored == digest(created["token"])
    assert created["token"].removeprefix("mun_") not in row
    assert created["token"].removeprefix("mun_").encode().hex() not in row


async def test_expired_token_is_401(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    expired = seed.token(person.id, person.organization_id, expires_in=timedelta(seconds=-1))
    answer = await me_with(api, expired)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_revoked_token_is_401_and_no_longer_listed(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    token_id = seed.one("SELECT id FROM api_tokens")
    async with browser_of(api, seed, person) as client:
        assert (await client.delete(f"{TOKENS}/{token_id}")).status_code == 204
        assert (await client.get(TOKENS)).json()["items"] == []
        assert (await client.delete(f"{TOKENS}/{token_id}")).status_code == 404
    assert (await me_with(api, person.token)).status_code == 401


async def test_token_of_a_deactivated_person_is_401(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    seed.deactivate(person)
    assert (await me_with(api, person.token)).status_code == 401


async def test_wrong_token_beside_a_valid_cookie_is_401(api: RunningApi, seed: Seed) -> None:
    async with browser_of(api, seed, seed.person()) as client:
        assert (await client.get(ME)).status_code == 200
        for header in ("Bearer mun_wrong", "Bearer", "Basic a2FyaTpwYXNz", "mun_wrong"):
            assert (await client.get(ME, headers={"Authorization": header})).status_code == 401, header


async def test_token_of_somebody_else_is_404_and_stays_valid(api: RunningApi, seed: Seed) -> None:
    colleague = seed.person()
    token_id = seed.one("SELECT id FROM api_tokens")
    boss = seed.person(colleague.organization_id, is_admin=True, is_operator=True)
    async with api.client(boss) as client:
        answer = await client.delete(f"{TOKENS}/{token_id}")
        missing = await client.delete(f"{TOKENS}/{uuid4()}")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Token not found"})
    assert (missing.status_code, missing.json()) == (answer.status_code, answer.json())
    assert (await me_with(api, colleague.token)).status_code == 200


UNFIT_EXPIRIES: list[dict[str, object]] = [
    {"expires_at": "2001-01-01T00:00:00Z"},
    {"expires_at": "0001-01-01T00:00:00+14:00"},
    {"expires_at": "9999-12-31T23:59:59-12:00"},
    {"expires_at": "2099-01-01T00:00:00"},
    {"expires_at": "tomorrow"},
    {"expires_in_days": 0},
    {"expires_in_days": 3651},
]


async def test_unfit_expiry_is_422(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person()) as client:
        for expiry in UNFIT_EXPIRIES:
            answer = await client.post(TOKENS, json={"name": "laptop", **expiry})
            assert answer.status_code == 422, expiry
    assert seed.one("SELECT count(*) FROM api_tokens") == 1


async def test_token_expires_when_asked_and_else_after_ninety_days(api: RunningApi, seed: Seed) -> None:
    asked = (datetime.now(UTC) + timedelta(days=2)).replace(microsecond=0)
    async with api.client(seed.person()) as client:
        chosen = (await client.post(TOKENS, json={"name": "a", "expires_at": asked.isoformat()})).json()
        default = (await client.post(TOKENS, json={"name": "b"})).json()
    assert datetime.fromisoformat(chosen["expires_at"]) == asked
    assert (datetime.fromisoformat(default["expires_at"]) - datetime.now(UTC)).days in (89, 90)


async def test_use_of_a_token_is_noted(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    assert seed.one("SELECT last_used_at FROM api_tokens") is None
    await me_with(api, person.token)
    assert seed.one("SELECT last_used_at > now() - interval '1 minute' FROM api_tokens")


UNFIT_NAMES = ["", "   ", "x" * 201, "a\0b", "a\nb", "a\x1bb", "a\x7fb", "a\x9bb", "a\u2028b", "a\u202eb"]


async def test_unfit_names_are_422(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person()) as client:
        statuses = {name: (await client.post(TOKENS, json={"name": name})).status_code for name in UNFIT_NAMES}
    assert statuses == dict.fromkeys(UNFIT_NAMES, 422)
    assert seed.one("SELECT count(*) FROM api_tokens") == 1
