import asyncio
from collections import Counter

import httpx
import pytest

from muniment.accounts.sign_in import ALLOWED_PER_ACCOUNT, ALLOWED_PER_ADDRESS, TooManyFailures, WrongCredentials
from muniment.storage.db.base import now
from tests.accounts.browser import browser_of, log_in
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Person, Seed

WRONG = "not the password"
HOUR_LATER = "UPDATE sign_in_failures SET blocked_until = blocked_until - interval '1 hour'"


async def fail(api: RunningApi, person: Person, times: int) -> list[httpx.Response]:
    return [await log_in(api, person.email, WRONG) for _ in range(times)]


async def guess(api: RunningApi, person: Person, address: str, password: str = WRONG) -> None:
    """From an IP address other than the test's own."""
    await api.services.sign_in.with_password(person.email, password, address=address, now=now())


async def test_repeated_wrong_passwords_answer_429_even_to_the_right_one(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    assert {answer.status_code for answer in await fail(api, person, ALLOWED_PER_ACCOUNT)} == {401}
    for password in (WRONG, PASSWORD):
        answer = await log_in(api, person.email, password)
        assert (answer.status_code, answer.json()) == (
            429,
            {"detail": "Too many failed sign-in attempts. Try again later"},
        )
        assert 1 <= int(answer.headers["retry-after"]) <= 2
    assert seed.one("SELECT count(*) FROM sessions") == 0


async def test_each_further_failure_doubles_the_wait(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    await fail(api, person, ALLOWED_PER_ACCOUNT)
    waits = []
    for _ in range(4):
        waits.append(int((await log_in(api, person.email)).headers["retry-after"]))
        seed.execute(HOUR_LATER)  # as if the waiting time were over
        assert (await log_in(api, person.email, WRONG)).status_code == 401
    for expected, waited in zip((2, 4, 8, 16), waits, strict=True):
        assert expected - 1 <= waited <= expected


async def test_the_wait_ends_at_a_quarter_of_an_hour(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    await fail(api, person, ALLOWED_PER_ACCOUNT)
    seed.execute("UPDATE sign_in_failures SET failures = 2000000000, blocked_until = NULL")
    await fail(api, person, 1)
    assert 890 <= int((await log_in(api, person.email)).headers["retry-after"]) <= 900


async def test_after_the_wait_the_right_password_signs_in_and_failures_are_forgotten(
    api: RunningApi, seed: Seed
) -> None:
    person = seed.person()
    await fail(api, person, ALLOWED_PER_ACCOUNT)
    seed.execute(HOUR_LATER)
    assert (await log_in(api, person.email)).status_code == 200
    assert {answer.status_code for answer in await fail(api, person, ALLOWED_PER_ACCOUNT)} == {401}


async def test_a_day_of_rest_forgives(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    await fail(api, person, ALLOWED_PER_ACCOUNT)
    seed.execute("UPDATE sign_in_failures SET last_failed_at = now() - interval '25 hours', blocked_until = NULL")
    assert {answer.status_code for answer in await fail(api, person, ALLOWED_PER_ACCOUNT)} == {401}


async def test_unknown_email_is_slowed_down_like_a_known_one(api: RunningApi) -> None:
    answers = [await log_in(api, "nobody@example.org", WRONG) for _ in range(ALLOWED_PER_ACCOUNT + 1)]
    assert [answer.status_code for answer in answers] == [401] * ALLOWED_PER_ACCOUNT + [429]


async def test_other_accounts_and_other_addresses_are_not_hit(api: RunningApi, seed: Seed) -> None:
    tried, other = seed.person(), seed.person()
    await fail(api, tried, ALLOWED_PER_ACCOUNT)
    assert (await log_in(api, other.email)).status_code == 200
    await guess(api, tried, "192.0.2.7", PASSWORD)


async def test_one_address_that_tries_many_accounts_is_slowed_down(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    await fail(api, person, 1)
    seed.execute("UPDATE sign_in_failures SET failures = %s", ALLOWED_PER_ADDRESS - 1)
    await fail(api, seed.person(), 1)
    assert (await log_in(api, seed.person().email)).status_code == 429


async def test_failures_are_forgiven_one_by_one_with_time(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    await fail(api, person, ALLOWED_PER_ACCOUNT)
    seed.execute("UPDATE sign_in_failures SET blocked_until = NULL, last_failed_at = now() - interval '21 minutes'")
    assert {answer.status_code for answer in await fail(api, person, 2)} == {401}  # two attempts are available again
    assert (await log_in(api, person.email)).status_code == 429


async def test_guesser_cannot_escape_through_the_many_addresses_of_one_ipv6_network(
    api: RunningApi, seed: Seed
) -> None:
    person = seed.person()
    for number in range(ALLOWED_PER_ACCOUNT):
        with pytest.raises(WrongCredentials):
            await guess(api, person, f"2001:db8:1:2::{number}")
    with pytest.raises(TooManyFailures):
        await guess(api, person, "2001:db8:1:2:ffff::1", PASSWORD)
    await guess(api, person, "2001:db8:1:3::1", PASSWORD)


async def test_many_guesses_at_the_same_moment_are_not_all_tried(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    answers = await asyncio.gather(*(log_in(api, person.email, WRONG) for _ in range(20)))
    tried = Counter(answer.status_code for answer in answers)
    assert tried[401] <= ALLOWED_PER_ACCOUNT + 1
    assert tried[401] + tried[429] == 20


async def test_guessing_the_current_password_in_a_found_browser_is_slowed_down_too(api: RunningApi, seed: Seed) -> None:
    async with browser_of(api, seed, seed.person()) as client:
        statuses = [
            (
                await client.put(
                    "/api/v1/auth/password", json={"new_password": "a new password", "current_password": given}
                )
            ).status_code
            for given in [WRONG] * ALLOWED_PER_ACCOUNT + [PASSWORD]
        ]
    assert statuses == [403] * ALLOWED_PER_ACCOUNT + [429]


async def test_table_of_failures_holds_no_email_and_no_address(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    await fail(api, person, 1)
    stored = str(seed.rows("SELECT * FROM sign_in_failures"))
    assert person.email not in stored
    assert "127.0.0.1" not in stored
