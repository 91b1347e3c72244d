from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import NullPool, create_engine, text

from muniment.accounts.credentials import InvalidEmail
from muniment.accounts.first_account import DEFAULT_EMAIL, FirstAccount, ensure_first_account
from muniment.accounts.sign_in import LinkInvalid
from muniment.storage.db.address import OWNER_ROLE, DatabaseAddress
from muniment.storage.db.base import now
from tests.accounts.browser import log_in
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, PASSWORD_HASH, Seed

Ensure = Callable[..., FirstAccount | None]


@pytest.fixture
def ensure(address: DatabaseAddress) -> Iterator[Ensure]:
    """Call it like `migrate`: as the owner, in the caller's transaction."""
    engine = create_engine(address.sqlalchemy_url, poolclass=NullPool)

    def run(email: str | None = None, password: str | None = None, at: datetime | None = None) -> FirstAccount | None:
        with engine.begin() as connection:
            connection.execute(text(f"SET ROLE {OWNER_ROLE}"))
            return ensure_first_account(connection, email=email, password=password, now=at or now())

    yield run
    engine.dispose()


async def redeem(api: RunningApi, secret: str | None) -> int:
    return (await api.anonymous.post("/api/v1/auth/redeem", json={"token": secret})).status_code


async def test_with_email_and_password_the_account_can_sign_in_and_there_is_no_link(
    api: RunningApi, seed: Seed, ensure: Ensure
) -> None:
    assert ensure("Boss@Example.org", PASSWORD) == FirstAccount("Boss@Example.org", None)
    me = (await log_in(api, "boss@example.org")).json()
    assert (me["is_admin"], me["is_operator"], me["organization_name"]) == (True, True, "My organization")
    assert seed.rows("SELECT 1 FROM sign_in_links") == []


async def test_without_anything_the_account_gets_a_link_that_signs_in_once(
    api: RunningApi, seed: Seed, ensure: Ensure
) -> None:
    first = ensure()
    assert first
    assert first.email == DEFAULT_EMAIL
    assert await redeem(api, first.link_secret) == 200
    me = (await api.anonymous.get("/api/v1/auth/me")).json()
    assert (me["email"], me["is_admin"], me["is_operator"]) == (DEFAULT_EMAIL, True, True)
    assert await redeem(api, first.link_secret) == 401


async def test_a_password_that_the_settings_name_later_completes_the_account(api: RunningApi, ensure: Ensure) -> None:
    first = ensure()
    assert first
    assert ensure("boss@example.org", PASSWORD) == FirstAccount("boss@example.org", None)
    assert (await log_in(api, "boss@example.org")).status_code == 200
    assert await redeem(api, first.link_secret) == 401


async def test_a_password_that_people_have_set_is_not_overwritten_by_the_settings(
    api: RunningApi, ensure: Ensure
) -> None:
    ensure("boss@example.org", PASSWORD)
    assert ensure("boss@example.org", "another password") == FirstAccount("boss@example.org", None)
    assert (await log_in(api, "boss@example.org")).status_code == 200


async def test_the_trail_says_that_the_system_made_it_and_holds_no_secret(seed: Seed, ensure: Ensure) -> None:
    ensure("boss@example.org", PASSWORD)
    lines = seed.audit_lines()
    assert [(line["action"], line["actor"]) for line in lines] == [
        ("organization_created", "system"),
        ("user_created", "system"),
    ]
    assert {line["organization_id"] for line in lines} == {seed.one("SELECT id FROM organizations")}
    assert lines[1]["payload"]["email"] == "boss@example.org"
    assert PASSWORD not in str(lines)


async def test_a_link_and_the_password_that_ends_it_are_on_record(seed: Seed, ensure: Ensure) -> None:
    first = ensure()
    ensure("boss@example.org", PASSWORD)
    lines = seed.audit_lines()[2:]
    assert [(line["action"], line["actor"]) for line in lines] == [
        ("sign_in_link_created", "system"),
        ("user_changed", "system"),
        ("password_changed", "system"),
    ]
    assert lines[1]["payload"]["before"] == {"email": DEFAULT_EMAIL}
    assert lines[1]["payload"]["after"] == {"email": "boss@example.org"}
    assert first
    assert str(first.link_secret) not in str(lines)


async def test_twice_makes_one_account_and_keeps_its_password(api: RunningApi, seed: Seed, ensure: Ensure) -> None:
    ensure("boss@example.org", PASSWORD)
    assert ensure("other@example.org", "another password") == FirstAccount("boss@example.org", None)
    assert seed.rows("SELECT email FROM users") == [("boss@example.org",)]
    assert len(seed.audit_lines()) == 2
    assert (await log_in(api, "boss@example.org")).status_code == 200


async def test_each_start_prints_a_new_link_and_the_old_one_is_dead(api: RunningApi, ensure: Ensure) -> None:
    old, new = ensure(), ensure()
    assert old
    assert new
    assert old.link_secret != new.link_secret
    assert await redeem(api, old.link_secret) == 401
    assert await redeem(api, new.link_secret) == 200


async def test_link_expires_after_a_day(api: RunningApi, ensure: Ensure) -> None:
    for hours, status in ((25, 401), (23, 200)):
        first = ensure(at=datetime.now(UTC) - timedelta(hours=hours))
        assert first
        assert await redeem(api, first.link_secret) == status


async def test_no_link_once_a_password_is_set(ensure: Ensure, seed: Seed) -> None:
    ensure()
    seed.execute("UPDATE users SET password_hash = %s", PASSWORD_HASH)
    assert ensure() == FirstAccount(DEFAULT_EMAIL, None)


async def test_link_that_was_printed_before_a_password_was_set_is_dead_after(
    api: RunningApi, ensure: Ensure, seed: Seed
) -> None:
    first = ensure()
    assert first
    seed.execute("UPDATE users SET password_hash = %s", PASSWORD_HASH)
    assert await redeem(api, first.link_secret) == 401
    assert seed.rows("SELECT 1 FROM sessions") == []


async def test_no_link_once_there_are_more_people(ensure: Ensure, seed: Seed) -> None:
    ensure()
    seed.person(seed.one("SELECT id FROM organizations"))
    assert ensure() is None


async def test_nothing_is_made_where_people_are_already(ensure: Ensure, seed: Seed) -> None:
    person = seed.person()
    assert ensure("boss@example.org", PASSWORD) == FirstAccount(person.email, None)
    assert seed.one("SELECT count(*) FROM users") == 1


async def test_deactivated_account_cannot_redeem_its_link(api: RunningApi, ensure: Ensure, seed: Seed) -> None:
    first = ensure()
    assert first
    seed.execute("UPDATE users SET is_active = false")
    assert await redeem(api, first.link_secret) == 401


async def test_link_that_was_refused_works_once_the_account_is_active_again(
    api: RunningApi, ensure: Ensure, seed: Seed
) -> None:
    first = ensure()
    assert first
    seed.execute("UPDATE users SET is_active = false")
    assert await redeem(api, first.link_secret) == 401
    seed.execute("UPDATE users SET is_active = true")
    assert [await redeem(api, first.link_secret) for _ in range(2)] == [200, 401]


async def test_unfit_email_is_refused_and_nothing_is_made(ensure: Ensure, seed: Seed) -> None:
    with pytest.raises(InvalidEmail):
        ensure("no address", PASSWORD)
    assert seed.one("SELECT count(*) FROM organizations") == 0


async def test_redeeming_is_audited_and_the_link_is_stored_as_a_hash(
    api: RunningApi, ensure: Ensure, seed: Seed
) -> None:
    first = ensure()
    assert first
    assert first.link_secret
    assert first.link_secret.encode() not in seed.one("SELECT token_hash FROM sign_in_links")
    await redeem(api, first.link_secret)
    line = seed.audit_lines()[-1]
    assert (line["action"], line["payload"]) == ("signed_in", {"by": "link"})
    assert line["actor"] == str(seed.one("SELECT id FROM users"))


async def test_invented_link_says_what_is_wrong(api: RunningApi) -> None:
    answer = await api.anonymous.post("/api/v1/auth/redeem", json={"token": "invented"})
    assert (answer.status_code, answer.json()) == (401, {"detail": LinkInvalid().message})
    assert "set-cookie" not in answer.headers
