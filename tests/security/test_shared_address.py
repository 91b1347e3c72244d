"""An admin who gives a user of theirs the address of another organization's user learns and gains nothing."""

from typing import Any

import httpx
import pytest

from muniment.accounts.sign_in import ALLOWED_PER_ACCOUNT
from tests.accounts.browser import ME, browser_of, log_in
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Person, Seed

EMAIL = "person@example.org"
UNKNOWN = "nobody@example.org"
THEIRS = "the password that the other admin chose"
WRONG = "not a password of anyone"
HOUR_LONGER = "UPDATE sign_in_failures SET blocked_until = blocked_until + interval '1 hour'"
"""Makes every wait that has begun long enough for a slow machine."""


async def create(client: httpx.AsyncClient, email: str) -> httpx.Response:
    return await client.post("/api/v1/users", json={"email": email, "password": THEIRS})


def shape(answer: httpx.Response) -> dict[str, Any]:
    """Return what an answer shows, apart from what differs between any two users."""
    body = {name: value for name, value in answer.json().items() if name not in ("id", "email", "created_at")}
    return {"status": answer.status_code, "body": body, "headers": sorted(answer.headers)}


async def test_creating_or_changing_a_user_does_not_tell_whether_another_organization_has_the_address(
    api: RunningApi, seed: Seed
) -> None:
    seed.person(email=EMAIL)
    async with api.client(seed.person(is_admin=True)) as admin:
        known, unknown = await create(admin, EMAIL), await create(admin, UNKNOWN)
        assert (known.status_code, shape(known)) == (201, shape(unknown))
        path = f"/api/v1/users/{unknown.json()['id']}"
        taken = await admin.patch(path, json={"email": EMAIL})
        assert (taken.status_code, taken.json()) == (409, {"detail": "A user with this email already exists"})
    async with api.client(seed.person(is_admin=True)) as admin:
        path = f"/api/v1/users/{(await create(admin, 'first@example.org')).json()['id']}"
        changes = [await admin.patch(path, json={"email": email}) for email in (EMAIL, "free@example.org")]
        assert (changes[0].status_code, shape(changes[0])) == (200, shape(changes[1]))


async def test_the_password_of_one_account_never_opens_the_other(api: RunningApi, seed: Seed) -> None:
    person, admin = seed.person(email=EMAIL), seed.person(is_admin=True)
    async with api.client(admin) as client:
        theirs = (await create(client, EMAIL)).json()
    accounts = {PASSWORD: (person.id, person.organization_id), THEIRS: (theirs["id"], theirs["organization_id"])}
    for password, (user_id, organization_id) in accounts.items():
        for chosen in (None, organization_id):
            answer = await log_in(api, EMAIL, password, organization_id=str(chosen) if chosen else None)
            assert (answer.status_code, answer.json()["id"]) == (200, str(user_id))
    for password, (_, organization_id) in zip(accounts, reversed(accounts.values()), strict=True):
        answer = await log_in(api, EMAIL, password, organization_id=str(organization_id))
        assert (answer.status_code, answer.json()) == (401, {"detail": "Incorrect email or password"})


async def test_a_wrong_password_does_not_tell_how_many_accounts_there_are(api: RunningApi, seed: Seed) -> None:
    for email in (EMAIL, EMAIL, "single@example.org"):
        seed.person(email=email)
    answers = [await log_in(api, email, WRONG) for email in (EMAIL, "single@example.org", UNKNOWN)]
    assert [answer.status_code for answer in answers] == [401] * 3
    assert len({(answer.text, tuple(sorted(answer.headers))) for answer in answers}) == 1


async def test_an_account_without_a_password_is_not_opened_by_that_of_the_other(api: RunningApi, seed: Seed) -> None:
    person, other = seed.person(email=EMAIL), seed.person(email=EMAIL)
    seed.execute("UPDATE users SET password_hash = NULL WHERE id = %s", other.id)
    assert (await log_in(api, EMAIL)).json()["id"] == str(person.id)
    assert (await log_in(api, EMAIL, organization_id=str(other.organization_id))).status_code == 401


async def test_the_sign_in_is_recorded_for_the_user_who_signed_in(api: RunningApi, seed: Seed) -> None:
    people = {password: seed.person(email=EMAIL, password=password) for password in (PASSWORD, THEIRS)}
    for password in people:
        await log_in(api, EMAIL, password)
    recorded = [(line["action"], line["actor"], line["organization_id"]) for line in seed.audit_lines()]
    assert recorded == [("signed_in", str(person.id), person.organization_id) for person in people.values()]


async def change_password(client: httpx.AsyncClient, current: str | None) -> int:
    body = {"new_password": "a brand new password", "current_password": current}
    return (await client.put("/api/v1/auth/password", json=body)).status_code


@pytest.mark.parametrize("is_older", [True, False])
async def test_only_ones_own_current_password_confirms_a_new_one(api: RunningApi, seed: Seed, is_older: bool) -> None:
    people = [seed.person(email=EMAIL), seed.person(email=EMAIL, password=THEIRS)]
    person, other = people if is_older else reversed(people)
    own, foreign = (PASSWORD, THEIRS) if is_older else (THEIRS, PASSWORD)
    async with browser_of(api, seed, person) as client:
        assert await change_password(client, foreign) == 403
        assert await change_password(client, None) == 403
        assert await change_password(client, own) == 204
    assert (await log_in(api, EMAIL, "a brand new password")).json()["id"] == str(person.id)
    assert (await log_in(api, EMAIL, foreign)).json()["id"] == str(other.id)
    changed = [line["payload"] for line in seed.audit_lines() if line["action"] == "password_changed"]
    assert changed == [{"user_id": str(person.id)}]


@pytest.mark.parametrize("is_older", [True, False])
async def test_whether_there_is_a_password_to_confirm_is_a_question_about_ones_own_account(
    api: RunningApi, seed: Seed, is_older: bool
) -> None:
    people = [seed.person(email=EMAIL), seed.person(email=EMAIL)]
    without, having = people if is_older else reversed(people)
    seed.execute("UPDATE users SET password_hash = NULL WHERE id = %s", without.id)
    async with browser_of(api, seed, without) as newcomer, browser_of(api, seed, having) as established:
        assert (await newcomer.get(ME)).json()["has_password"] is False
        assert (await established.get(ME)).json()["has_password"] is True
        assert await change_password(established, None) == 403
        assert await change_password(newcomer, None) == 204


async def test_failures_are_counted_by_address_whatever_organization_is_named(api: RunningApi, seed: Seed) -> None:
    people = [seed.person(email=EMAIL), seed.person(email=EMAIL, password=THEIRS)]
    chosen = [None, *(str(person.organization_id) for person in people), None, None]
    assert len(chosen) == ALLOWED_PER_ACCOUNT
    answers = [await log_in(api, EMAIL, WRONG, organization_id=each) for each in chosen]
    assert {answer.status_code for answer in answers} == {401}
    seed.execute(HOUR_LONGER)
    for person, password in zip(people, (PASSWORD, THEIRS), strict=True):
        for organization_id in (None, str(person.organization_id)):
            assert (await log_in(api, EMAIL, password, organization_id=organization_id)).status_code == 429


async def guess_between_own_sign_ins(api: RunningApi, email: str) -> list[int]:
    """Guess as long as no wait is due, and end the failures with the password one knows."""
    passwords = [*[WRONG] * (ALLOWED_PER_ACCOUNT - 1), THEIRS] * 3
    return [(await log_in(api, email, password)).status_code for password in passwords]


async def test_signing_in_to_ones_own_account_buys_no_guesses_at_the_other(api: RunningApi, seed: Seed) -> None:
    person = seed.person(email=EMAIL)
    seed.person(email=EMAIL, password=THEIRS)
    await guess_between_own_sign_ins(api, EMAIL)
    seed.execute(HOUR_LONGER)
    assert (await log_in(api, EMAIL, PASSWORD)).status_code == 401
    seed.execute("UPDATE sign_in_failures SET blocked_until = now() - interval '1 second'")
    assert (await log_in(api, EMAIL, PASSWORD)).json()["id"] == str(person.id)


async def test_a_guesser_sees_the_same_answers_whether_or_not_there_is_another_account(
    api: RunningApi, seed: Seed
) -> None:
    seed.person(email=EMAIL)
    for email in (EMAIL, UNKNOWN):
        seed.person(email=email, password=THEIRS)
    with_other, alone = [await guess_between_own_sign_ins(api, email) for email in (EMAIL, UNKNOWN)]
    assert with_other == alone


async def set_password(admin: httpx.AsyncClient, person: Person, password: str) -> None:
    assert (await admin.patch(f"/api/v1/users/{person.id}", json={"password": password})).status_code == 200


async def test_making_each_guess_the_password_of_ones_own_user_is_throttled_too(api: RunningApi, seed: Seed) -> None:
    seed.person(email=EMAIL)
    admin = seed.person(is_admin=True)
    own = seed.person(admin.organization_id, email=EMAIL)
    async with api.client(admin) as client:
        for number in range(ALLOWED_PER_ACCOUNT):
            await set_password(client, own, f"{WRONG} {number}")
            assert (await log_in(api, EMAIL, f"{WRONG} {number}")).json()["id"] == str(own.id)
        seed.execute(HOUR_LONGER)
        await set_password(client, own, PASSWORD)
        assert (await log_in(api, EMAIL, PASSWORD)).json()["id"] == str(own.id)  # and not: several organizations
