import httpx
import pytest

from tests.accounts.browser import ME, browser_of, log_in
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Seed

NEW = "a brand new password"


async def change(
    client: httpx.AsyncClient, new: str = NEW, current: str | None = None, **more: object
) -> httpx.Response:
    return await client.put("/api/v1/auth/password", json={"new_password": new, "current_password": current, **more})


async def test_first_password_needs_no_current_one(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    seed.execute("UPDATE users SET password_hash = NULL")
    async with browser_of(api, seed, person) as client:
        assert (await change(client)).status_code == 204
    assert (await log_in(api, person.email, NEW)).status_code == 200


@pytest.mark.parametrize("cookie", [None, "invented"])
async def test_a_token_cannot_set_the_first_password(api: RunningApi, seed: Seed, cookie: str | None) -> None:
    person = seed.person()
    seed.execute("UPDATE users SET password_hash = NULL")
    async with api.client(person) as client:
        if cookie:
            client.cookies.set("muniment_session", cookie)
        answer = await change(client)
    said = "An API token cannot set the first password of an account. Open the sign-in link"
    assert (answer.status_code, answer.json()) == (403, {"detail": said})


@pytest.mark.parametrize("given", [None, "not the password"])
async def test_later_ones_need_the_current_one(api: RunningApi, seed: Seed, given: str | None) -> None:
    person = seed.person()
    async with browser_of(api, seed, person) as client:
        answer = await change(client, current=given)
        assert (answer.status_code, answer.json()) == (403, {"detail": "The current password is incorrect"})
        assert (await client.get(ME)).status_code == 200
    assert (await log_in(api, person.email, PASSWORD)).status_code == 200
    assert "password_changed" not in [line["action"] for line in seed.audit_lines()]


async def test_with_the_current_one_the_new_one_counts_and_the_old_one_does_not(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with browser_of(api, seed, person) as client:
        assert (await change(client, current=PASSWORD)).status_code == 204
    assert (await log_in(api, person.email, PASSWORD)).status_code == 401
    assert (await log_in(api, person.email, NEW)).status_code == 200


async def test_other_sessions_end_and_this_one_and_other_people_stay(api: RunningApi, seed: Seed) -> None:
    person, colleague = seed.person(), seed.person()
    async with (
        browser_of(api, seed, person) as here,
        browser_of(api, seed, person) as elsewhere,
        browser_of(api, seed, colleague) as theirs,
    ):
        await change(here, current=PASSWORD)
        assert (await here.get(ME)).status_code == 200
        assert (await elsewhere.get(ME)).status_code == 401
        assert (await theirs.get(ME)).status_code == 200


async def test_tokens_end_with_the_old_password_and_those_of_others_stay(api: RunningApi, seed: Seed) -> None:
    person, colleague = seed.person(), seed.person()
    async with (
        browser_of(api, seed, person) as here,
        api.client(person) as program,
        api.client(colleague) as theirs,
    ):
        await change(here, current=PASSWORD)
        assert (await program.get(ME)).status_code == 401
        assert (await theirs.get(ME)).status_code == 200
    assert [line["action"] for line in seed.audit_lines()] == ["token_revoked", "password_changed"]


async def test_tokens_stay_if_the_person_wants_that(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with browser_of(api, seed, person) as here, api.client(person) as program:
        await change(here, current=PASSWORD, revoke_tokens=False)
        assert (await program.get(ME)).status_code == 200


async def test_unfit_password_is_422_and_the_old_one_stays(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with browser_of(api, seed, person) as client:
        for unfit in ("1234567", "x" * 1025, ""):
            assert (await change(client, unfit, PASSWORD)).status_code == 422, unfit
    assert (await log_in(api, person.email, PASSWORD)).status_code == 200


async def test_change_is_audited_once_without_any_password(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with browser_of(api, seed, person) as client:
        await change(client, current=PASSWORD, revoke_tokens=False)
    (line,) = seed.audit_lines()
    assert (line["action"], line["actor"]) == ("password_changed", str(person.id))
    assert line["payload"] == {"user_id": str(person.id)}
    assert line["organization_id"] == person.organization_id
