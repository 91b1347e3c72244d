from typing import Any

import httpx

from tests.accounts.browser import log_in
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Seed

USERS = "/api/v1/users"


async def create(client: httpx.AsyncClient, email: str = "new@example.org", **fields: Any) -> httpx.Response:
    return await client.post(USERS, json={"email": email, "password": PASSWORD, **fields})


async def test_new_person_belongs_to_the_organization_of_the_admin_and_can_sign_in(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    async with api.client(admin) as client:
        answer = await create(client, " New@Example.org ")
    assert answer.status_code == 201
    assert set(answer.json()) == {
        "id", "organization_id", "email", "is_admin", "is_operator", "is_active", "created_at"
    }  # fmt: skip
    assert answer.json()["email"] == "New@Example.org"
    assert answer.json()["organization_id"] == str(admin.organization_id)
    assert (await log_in(api, "new@example.org")).json()["is_admin"] is False


async def test_password_is_stored_as_an_argon2_hash_only(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_admin=True)) as client:
        await create(client, password="a password of theirs")
    ((stored, row),) = seed.rows("SELECT password_hash, users::text FROM users WHERE email_key = 'new@example.org'")
    assert stored.startswith("$argon2id$")
    assert "a password of theirs" not in row


async def test_email_that_is_taken_in_any_spelling_is_409(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    seed.person(admin.organization_id, email="Person@example.org")
    async with api.client(admin) as client:
        for again in ("person@example.org", "PERSON@Example.ORG", " person@example.org "):
            answer = await create(client, again)
            assert answer.status_code == 409, again
            assert answer.json() == {"detail": "A user with this email already exists"}
    assert seed.audit_lines() == []


async def test_bad_email_is_422(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_admin=True)) as client:
        for email in ("person", "@example.org", "a b@example.org", "a@b@c", "a\0b@c", "a\nb@c", "x" * 250 + "@a.no"):
            assert (await create(client, email)).status_code == 422, email
    assert seed.one("SELECT count(*) FROM users") == 1


async def test_password_shorter_than_eight_characters_is_422(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_admin=True)) as client:
        answer = await create(client, password="1234567")
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["msg"] == "Use 8 to 1,024 characters for the password"
        assert (await create(client, password="12345678")).status_code == 201


async def test_admin_sees_the_people_of_the_own_organization_only(api: RunningApi, seed: Seed) -> None:
    admin, stranger = seed.person(is_admin=True), seed.person()
    async with api.client(admin) as client:
        mine = (await client.get(USERS)).json()
        theirs = (await client.get(USERS, params={"organization_id": str(stranger.organization_id)})).json()
    assert [user["id"] for user in mine["items"]] == [str(admin.id)]
    assert (theirs["items"], theirs["total"]) == ([], 0)


async def test_operator_sees_everybody_or_one_organization(api: RunningApi, seed: Seed) -> None:
    operator, stranger = seed.person(is_operator=True), seed.person()
    async with api.client(operator) as client:
        everybody = (await client.get(USERS)).json()
        theirs = (await client.get(USERS, params={"organization_id": str(stranger.organization_id)})).json()
    assert everybody["total"] == 2
    assert [user["id"] for user in theirs["items"]] == [str(stranger.id)]
    assert "password" not in str(everybody)


async def test_people_are_sorted_by_email_and_paged(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(email="m@example.org", is_admin=True)
    for letter in "zAb":
        seed.person(admin.organization_id, email=f"{letter}@example.org")
    async with api.client(admin) as client:
        pages = [(await client.get(USERS, params={"limit": 3, "page": page})).json() for page in (1, 2, 3)]
    assert [[user["email"][0] for user in page["items"]] for page in pages] == [["A", "b", "m"], ["z"], []]
    assert {page["total"] for page in pages} == {4}


async def test_search_is_by_part_of_the_email_and_knows_no_wildcards(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(email="boss@example.org", is_admin=True)
    for email in ("Person@example.org", "a%b@example.org", "axb@example.org"):
        seed.person(admin.organization_id, email=email)
    expected = {
        "PERSON": ["Person@example.org"],
        " person ": ["Person@example.org"],
        "a%b": ["a%b@example.org"],
        "_": [],
    }
    async with api.client(admin) as client:
        for search, found in expected.items():
            answer = (await client.get(USERS, params={"search": search})).json()
            assert ([user["email"] for user in answer["items"]], answer["total"]) == (found, len(found)), search


async def test_unfit_query_is_422(api: RunningApi, seed: Seed) -> None:
    unfit = ["search=%00", "page=0", "limit=101", "limit=0", "organization_id=x", f"search={'x' * 201}"]
    async with api.client(seed.person(is_admin=True)) as client:
        statuses = {query: (await client.get(f"{USERS}?{query}")).status_code for query in unfit}
    assert statuses == dict.fromkeys(unfit, 422)
