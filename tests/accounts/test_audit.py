from typing import Any
from uuid import UUID

from tests.accounts.browser import LOGIN, browser_of, fresh_client
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Seed

NEW = {"email": "new@example.org", "password": "a password of theirs"}


def only_line(seed: Seed) -> dict[str, Any]:
    (line,) = seed.audit_lines()
    assert line["address"] == "127.0.0.1"
    assert (line["knowledge_base_id"], line["document_id"]) == (None, None)
    return line


async def test_sign_in_and_sign_out_are_one_line_each(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with fresh_client(api) as client:
        await client.post(LOGIN, json={"email": person.email, "password": PASSWORD})
        await client.post("/api/v1/auth/logout")
    lines = [(line["action"], line["actor"], line["organization_id"], line["payload"]) for line in seed.audit_lines()]
    who = (str(person.id), person.organization_id)
    assert lines == [("signed_in", *who, {"by": "password"}), ("signed_out", *who, {})]


async def test_logout_that_ends_no_session_writes_no_line(api: RunningApi, seed: Seed) -> None:
    mine, other = seed.person(), seed.person()
    async with browser_of(api, seed, other) as client:
        assert (await client.post("/api/v1/auth/logout", headers=mine.headers)).status_code == 204
    assert seed.audit_lines() == []
    assert seed.one("SELECT count(*) FROM sessions") == 1


async def test_token_made_and_revoked_are_one_line_each(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with api.client(person) as client:
        token = (await client.post("/api/v1/auth/tokens", json={"name": "laptop"})).json()
        await client.delete(f"/api/v1/auth/tokens/{token['id']}")
    made, revoked = seed.audit_lines()
    assert (made["action"], revoked["action"]) == ("token_created", "token_revoked")
    assert (made["payload"]["token_id"], made["payload"]["name"]) == (token["id"], "laptop")
    assert revoked["payload"] == {"token_id": token["id"], "name": "laptop"}
    assert {made["actor"], revoked["actor"]} == {str(person.id)}
    assert {made["organization_id"], revoked["organization_id"]} == {person.organization_id}


async def test_new_organization_stands_in_its_own_trail(api: RunningApi, seed: Seed) -> None:
    operator = seed.person(is_operator=True)
    async with api.client(operator) as client:
        made = (await client.post("/api/v1/organizations", json={"name": "Ny AS"})).json()
    line = only_line(seed)
    assert (line["action"], line["actor"]) == ("organization_created", str(operator.id))
    assert line["organization_id"] == UUID(made["id"])
    assert line["payload"] == {"id": made["id"], "name": "Ny AS"}


async def test_rename_says_what_it_was_and_what_it_is(api: RunningApi, seed: Seed) -> None:
    operator, other = seed.person(is_operator=True), seed.organization("Før AS")
    async with api.client(operator) as client:
        await client.patch(f"/api/v1/organizations/{other}", json={"name": "Etter AS"})
    line = only_line(seed)
    assert (line["action"], line["organization_id"]) == ("organization_renamed", other)
    assert line["payload"] == {"id": str(other), "before": "Før AS", "after": "Etter AS"}


async def test_new_person_stands_in_the_trail_of_their_organization(api: RunningApi, seed: Seed) -> None:
    operator, other = seed.person(is_operator=True), seed.organization()
    async with api.client(operator) as client:
        made = (await client.post("/api/v1/users", json={**NEW, "organization_id": str(other)})).json()
    line = only_line(seed)
    assert (line["action"], line["actor"], line["organization_id"]) == ("user_created", str(operator.id), other)
    assert line["payload"] == {
        "user_id": made["id"], "email": "new@example.org", "is_admin": False, "is_operator": False
    }  # fmt: skip


async def test_changed_person_is_one_line_with_before_and_after(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id, email="old@example.org")
    async with api.client(admin) as client:
        await client.patch(
            f"/api/v1/users/{person.id}", json={"email": "new@example.org", "is_admin": True, "is_active": True}
        )
    line = only_line(seed)
    assert (line["action"], line["actor"]) == ("user_changed", str(admin.id))
    assert line["payload"] == {
        "user_id": str(person.id),
        "before": {"email": "old@example.org", "is_admin": False},
        "after": {"email": "new@example.org", "is_admin": True},
    }


async def test_password_given_by_an_admin_is_one_line_that_does_not_hold_it(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id)
    async with api.client(admin) as client:
        await client.patch(f"/api/v1/users/{person.id}", json={"password": "a password of theirs"})
    line = only_line(seed)
    assert (line["action"], line["payload"]) == ("password_changed", {"user_id": str(person.id)})


async def test_no_password_token_or_hash_ever_stands_in_the_trail(api: RunningApi, seed: Seed) -> None:
    boss = seed.person(is_admin=True, is_operator=True)
    async with fresh_client(api) as client:
        await client.post(LOGIN, json={"email": boss.email, "password": PASSWORD})
        token = (await client.post("/api/v1/auth/tokens", json={"name": "laptop"})).json()["token"]
        made = (await client.post("/api/v1/users", json=NEW)).json()
        await client.patch(f"/api/v1/users/{made['id']}", json={"password": "yet another one", "is_admin": True})
        await client.put("/api/v1/auth/password", json={"current_password": PASSWORD, "new_password": "the newest"})
        cookies = list(client.cookies.values())
        await client.post("/api/v1/auth/logout")
    trail = str(seed.rows("SELECT audit_events::text FROM audit_events"))
    assert len(seed.audit_lines()) == 9  # the new password also revokes two tokens
    for secret in (PASSWORD, NEW["password"], "yet another one", "the newest", token, *cookies, "argon2"):
        assert secret not in trail
    for (digest,) in seed.rows("SELECT token_hash FROM api_tokens"):
        assert digest.hex() not in trail


WRITES: list[tuple[str, str, dict[str, object] | None]] = [
    ("POST", "/auth/tokens", {"name": "laptop"}),
    ("POST", "/organizations", {"name": "Ny AS"}),
    ("PATCH", "/organizations/{own}", {"name": "Ny AS"}),
    ("POST", "/users", {**NEW}),
    ("PATCH", "/users/{colleague}", {"is_admin": True}),
    ("PATCH", "/users/{colleague}", {"password": "yet another one"}),
    ("PUT", "/auth/password", {"new_password": "the newest one", "current_password": PASSWORD}),
    ("POST", "/auth/login", {"email": "boss@example.org", "password": PASSWORD}),
    ("POST", "/auth/logout", None),
]


async def test_change_whose_line_cannot_be_written_does_not_happen(api: RunningApi, seed: Seed) -> None:
    boss = seed.person(email="boss@example.org", is_admin=True, is_operator=True)
    colleague = seed.person(boss.organization_id)
    browser = browser_of(api, seed, boss)
    seed.execute("ALTER TABLE audit_events ADD CONSTRAINT nothing_more CHECK (false)")
    before = state(seed)
    async with browser as client:
        for method, path, body in WRITES:
            full = "/api/v1" + path.format(own=boss.organization_id, colleague=colleague.id)
            answer = await client.request(method, full, json=body)
            assert answer.status_code == 500, (method, path)
            assert state(seed) == before, (method, path)


def state(seed: Seed) -> list[list[tuple[Any, ...]]]:
    tables = ("organizations", "users", "sessions", "api_tokens")
    return [seed.rows(f"SELECT {table}::text FROM {table} ORDER BY 1") for table in tables]
