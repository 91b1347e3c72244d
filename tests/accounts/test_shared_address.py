"""Users of several organizations with the same email address."""

from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from muniment.accounts.credentials import digest
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import now
from muniment.storage.db.migrate import downgrade
from muniment.storage.db.work import Database
from tests.accounts.browser import ME, fresh_client, log_in
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Seed

EMAIL = "Person@example.org"
OTHER = "the password of the other account"
CHOOSE = "This email address and password belong to several organizations. Choose one."


async def test_each_password_opens_its_own_account(api: RunningApi, seed: Seed) -> None:
    one, other = seed.person(email=EMAIL), seed.person(email=EMAIL.upper(), password=OTHER)
    for person, password in ((one, PASSWORD), (other, OTHER)):
        answer = await log_in(api, EMAIL, password)
        assert (answer.status_code, answer.json()["id"]) == (200, str(person.id))


async def test_the_same_password_in_several_organizations_asks_which_and_opens_none(
    api: RunningApi, seed: Seed
) -> None:
    second, first = (seed.person(seed.organization(name), email=EMAIL) for name in ("Beta AS", "Alfa AS"))
    seed.person(seed.organization("Gamma AS"), email=EMAIL, password=OTHER)
    answer = await log_in(api, EMAIL)
    assert (answer.status_code, "set-cookie" in answer.headers) == (409, False)
    assert answer.json() == {
        "detail": CHOOSE,
        "organizations": [
            {"id": str(first.organization_id), "name": "Alfa AS"},
            {"id": str(second.organization_id), "name": "Beta AS"},
        ],
    }
    assert seed.one("SELECT count(*) FROM sessions") == 0


async def test_the_chosen_organization_is_the_one_that_opens(api: RunningApi, seed: Seed) -> None:
    for person in (seed.person(email=EMAIL), seed.person(email=EMAIL)):
        async with fresh_client(api) as client:
            credentials = {"email": EMAIL, "password": PASSWORD, "organization_id": str(person.organization_id)}
            assert (await client.post("/api/v1/auth/login", json=credentials)).status_code == 200
            assert (await client.get(ME)).json()["id"] == str(person.id)


async def test_a_deactivated_account_is_neither_offered_nor_opened(api: RunningApi, seed: Seed) -> None:
    active, gone = seed.person(email=EMAIL), seed.person(email=EMAIL)
    seed.deactivate(gone)
    assert (await log_in(api, EMAIL)).json()["id"] == str(active.id)
    assert (await log_in(api, EMAIL, organization_id=str(gone.organization_id))).status_code == 401


async def test_an_organization_that_does_not_have_the_account_is_a_wrong_password(api: RunningApi, seed: Seed) -> None:
    person, stranger = seed.person(email=EMAIL), seed.person()
    wrong = await log_in(api, person.email, OTHER)
    for organization_id in (stranger.organization_id, uuid4()):
        answer = await log_in(api, EMAIL, organization_id=str(organization_id))
        assert (answer.status_code, answer.json()) == (401, wrong.json())
    assert (await log_in(api, EMAIL, organization_id="Firma AS")).status_code == 422


async def test_operators_see_both_users_on_pages_in_a_fixed_order(api: RunningApi, seed: Seed) -> None:
    operator = seed.person(email="a@example.org", is_operator=True)
    ids = [str(seed.person(email=EMAIL).id) for _ in range(5)]
    async with api.client(operator) as client:
        pages = [(await client.get("/api/v1/users", params={"limit": 1, "page": page})).json() for page in range(2, 7)]
    assert [user["id"] for page in pages for user in page["items"]] == ids


async def test_a_one_time_link_opens_its_account_although_the_other_has_a_password(api: RunningApi, seed: Seed) -> None:
    seed.person(email=EMAIL)
    person = seed.person(email=EMAIL)
    seed.execute("UPDATE users SET password_hash = NULL WHERE id = %s", person.id)
    of_person = {"user_id": person.id, "organization_id": person.organization_id}
    seed.insert("sign_in_links", token_hash=digest("a link"), **of_person, expires_at=now() + timedelta(days=1))
    async with fresh_client(api) as client:
        answer = await client.post("/api/v1/auth/redeem", json={"token": "a link"})
    assert (answer.status_code, answer.json()["id"], answer.json()["has_password"]) == (200, str(person.id), False)


async def test_the_previous_version_finds_the_oldest_account_or_the_callers_own(database: Database, seed: Seed) -> None:
    newer, oldest = seed.person(email=EMAIL), seed.person(email=EMAIL)
    seed.execute("UPDATE users SET created_at = now() - interval '1 day' WHERE id = %s", oldest.id)
    find = text("SELECT user_id FROM find_login('person@example.org')")
    async with database.anonymous_work() as work:
        assert (await work.session.scalars(find)).all() == [oldest.id]
    for person in (oldest, newer):
        async with database.work(person.principal) as own_work:
            assert (await own_work.session.scalars(find)).all() == [person.id]
    seed.deactivate(oldest)
    async with database.anonymous_work() as work:
        assert (await work.session.scalars(find)).all() == [newer.id]


def test_the_schema_cannot_go_back_while_two_organizations_share_an_address(
    address: DatabaseAddress, seed: Seed
) -> None:
    one, _ = seed.person(email=EMAIL), seed.person(email=EMAIL)
    with pytest.raises(DBAPIError, match="uq_users_email_key"):
        downgrade(address, "0037")
    seed.execute("UPDATE users SET email = 'other@example.org', email_key = 'other@example.org' WHERE id = %s", one.id)
    downgrade(address, "0037")
    assert seed.rows("SELECT conname FROM pg_constraint WHERE conname = 'uq_users_email_key'")
