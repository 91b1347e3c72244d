import hashlib
from datetime import timedelta

from muniment.http.dependencies import SESSION_COOKIE
from tests.accounts.browser import LOGIN, ME, browser_of, fresh_client, log_in, with_cookie
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Seed


async def test_right_password_opens_a_session_that_says_who_i_am(api: RunningApi, seed: Seed) -> None:
    person = seed.person(seed.organization("Mølla AS"), email="Person@Example.org", is_admin=True)
    async with fresh_client(api) as client:
        answer = await client.post(LOGIN, json={"email": " person@example.ORG ", "password": PASSWORD})
        me = await client.get(ME)
    expected = {
        "id": str(person.id),
        "email": "Person@Example.org",
        "organization_id": str(person.organization_id),
        "organization_name": "Mølla AS",
        "is_admin": True,
        "is_operator": False,
        "has_password": True,
    }
    assert (answer.status_code, answer.json()) == (200, expected)
    assert (me.status_code, me.json()) == (200, expected)


async def test_wrong_password_and_unknown_email_get_the_same_answer(api: RunningApi, seed: Seed) -> None:
    wrong = await log_in(api, seed.person().email, "not the password")
    unknown = await log_in(api, "nobody@example.org", PASSWORD)
    assert (wrong.status_code, wrong.json()) == (401, {"detail": "Incorrect email or password"})
    assert (unknown.status_code, unknown.json()) == (wrong.status_code, wrong.json())
    assert {name for name in wrong.headers if name != "x-request-id"} == {
        name for name in unknown.headers if name != "x-request-id"
    }
    assert "set-cookie" not in wrong.headers


async def test_account_without_a_password_cannot_sign_in_with_any(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    seed.execute("UPDATE users SET password_hash = NULL WHERE id = %s", person.id)
    assert (await log_in(api, person.email, "nobody has this password")).status_code == 401


async def test_deactivated_person_cannot_sign_in(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    seed.deactivate(person)
    assert (await log_in(api, person.email)).status_code == 401


async def test_database_holds_the_hash_of_the_session_and_never_the_secret(api: RunningApi, seed: Seed) -> None:
    secret = (await log_in(api, seed.person().email)).cookies[SESSION_COOKIE]
    ((stored, address),) = seed.rows("SELECT token_hash, address FROM sessions")
    assert (stored, address) == (hashlib.sha256(secret.encode()).digest(), "127.0.0.1")


async def test_nobody_is_signed_in_without_a_cookie_or_with_an_invented_one(api: RunningApi) -> None:
    async with with_cookie(api, "invented") as client:
        assert (await client.get(ME)).status_code == 401
    assert (await api.anonymous.get(ME)).json() == {"detail": "Not signed in"}


async def test_logout_ends_the_session_on_the_server_and_clears_the_cookie(api: RunningApi, seed: Seed) -> None:
    secret = seed.session(seed.person())
    async with with_cookie(api, secret) as client:
        answer = await client.post("/api/v1/auth/logout")
    assert answer.status_code == 204
    assert answer.headers["set-cookie"].startswith(f'{SESSION_COOKIE}="";')
    assert "Max-Age=0" in answer.headers["set-cookie"]
    async with with_cookie(api, secret) as stolen:
        assert (await stolen.get(ME)).status_code == 401


async def test_logout_leaves_other_sessions_alone(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with browser_of(api, seed, person) as phone, browser_of(api, seed, person) as laptop:
        await phone.post("/api/v1/auth/logout")
        assert (await laptop.get(ME)).status_code == 200


async def test_expired_session_is_not_signed_in(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with with_cookie(api, seed.session(person, expires_in=timedelta(seconds=-1))) as client:
        assert (await client.get(ME)).status_code == 401


async def test_cookie_of_a_deactivated_person_is_worth_nothing(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with browser_of(api, seed, person) as client:
        assert (await client.get(ME)).status_code == 200
        seed.deactivate(person)
        assert (await client.get(ME)).status_code == 401


UNFIT = [
    '{"email": "a\\u0000b@example.org", "password": "whatever it is"}',
    '{"email": "a\\ud800b@example.org", "password": "whatever it is"}',
    '{"email": "person@example.org", "password": "a\\ud800b"}',
    '{"email": "person@example.org", "password": ""}',
    '{"email": "person@example.org"}',
    '{"email": ["person@example.org"], "password": "whatever it is"}',
    "[]",
    "{",
]


async def test_unfit_credentials_are_422_and_do_not_come_back(api: RunningApi) -> None:
    for body in UNFIT:
        answer = await api.anonymous.post(LOGIN, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, body
        assert "whatever it is" not in answer.text


async def test_password_with_a_nul_byte_is_wrong_and_no_error(api: RunningApi, seed: Seed) -> None:
    assert (await log_in(api, seed.person().email, f"{PASSWORD}\0")).status_code == 401
