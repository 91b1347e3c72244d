from uuid import uuid4

from tests.accounts.browser import ME, browser_of, log_in
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Seed

NEW = "a brand new password"


async def test_new_password_signs_that_person_out_and_nobody_else(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id)
    async with browser_of(api, seed, person) as theirs, browser_of(api, seed, admin) as mine:
        answer = await mine.patch(f"/api/v1/users/{person.id}", json={"password": NEW})
        assert answer.status_code == 200
        assert (await theirs.get(ME)).status_code == 401
        assert (await mine.get(ME)).status_code == 200
    assert (await log_in(api, person.email, PASSWORD)).status_code == 401
    assert (await log_in(api, person.email, NEW)).status_code == 200


async def test_new_password_revokes_the_tokens_unless_the_admin_keeps_them(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id)
    async with api.client(person) as program, api.client(admin) as mine:
        path = f"/api/v1/users/{person.id}"
        assert (await mine.patch(path, json={"password": NEW, "revoke_tokens": False})).status_code == 200
        assert (await program.get(ME)).status_code == 200
        assert (await mine.patch(path, json={"password": NEW})).status_code == 200
        assert (await program.get(ME)).status_code == 401


async def test_deactivating_revokes_the_tokens_whatever_is_asked(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id)
    async with api.client(admin) as mine:
        await mine.patch(f"/api/v1/users/{person.id}", json={"is_active": False, "revoke_tokens": False})
    assert seed.one("SELECT revoked_at IS NOT NULL FROM api_tokens WHERE user_id = %s", person.id)


async def test_deactivated_person_is_out_at_once_and_for_all_their_sessions(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id)
    async with browser_of(api, seed, person) as theirs, api.client(person) as program, api.client(admin) as mine:
        path = f"/api/v1/users/{person.id}"
        assert (await mine.patch(path, json={"is_active": False})).json()["is_active"] is False
        assert (await theirs.get(ME)).status_code == 401
        assert (await program.get(ME)).status_code == 401
        await mine.patch(path, json={"is_active": True})
        assert (await theirs.get(ME)).status_code == 401
    assert (await log_in(api, person.email)).status_code == 200


async def test_nobody_takes_rights_from_the_own_account(api: RunningApi, seed: Seed) -> None:
    person = seed.person(is_admin=True, is_operator=True)
    async with api.client(person) as client:
        for right in ("is_admin", "is_operator", "is_active"):
            answer = await client.patch(f"/api/v1/users/{person.id}", json={right: False})
            assert answer.status_code == 400, right
            assert answer.json() == {"detail": "You cannot remove roles or access from your own account"}
    assert seed.rows("SELECT is_admin, is_operator, is_active FROM users") == [(True, True, True)]
    assert seed.audit_lines() == []


async def test_admin_cannot_go_round_the_current_password_of_the_own_account(api: RunningApi, seed: Seed) -> None:
    person = seed.person(is_admin=True)
    async with api.client(person) as client:
        answer = await client.patch(f"/api/v1/users/{person.id}", json={"password": NEW})
    assert answer.status_code == 400
    assert (await log_in(api, person.email, PASSWORD)).status_code == 200


async def test_email_can_be_changed_and_is_the_new_way_to_sign_in(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id, email="old@example.org")
    async with api.client(admin) as client:
        answer = await client.patch(f"/api/v1/users/{person.id}", json={"email": "New@example.org"})
    assert answer.json()["email"] == "New@example.org"
    assert (await log_in(api, "new@example.org")).status_code == 200
    assert (await log_in(api, "old@example.org")).status_code == 401


async def test_unfit_change_is_refused_and_leaves_no_trace(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    seed.person(admin.organization_id, email="taken@example.org")
    person = seed.person(admin.organization_id)
    unfit: list[tuple[dict[str, object], int]] = [
        ({"email": "TAKEN@example.org"}, 409),
        ({"email": "no address"}, 422),
        ({"password": "1234567"}, 422),
        ({"is_admin": "perhaps"}, 422),
    ]
    before = seed.rows("SELECT * FROM users WHERE id = %s", person.id)
    async with api.client(admin) as client:
        for change, status in unfit:
            answer = await client.patch(f"/api/v1/users/{person.id}", json=change)
            assert answer.status_code == status, change
    assert seed.rows("SELECT * FROM users WHERE id = %s", person.id) == before
    assert seed.audit_lines() == []


async def test_change_that_changes_nothing_writes_no_line(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id)
    unchanged: list[dict[str, object]] = [{}, {"is_admin": False}, {"email": None, "is_active": True}]
    async with api.client(admin) as client:
        for change in unchanged:
            answer = await client.patch(f"/api/v1/users/{person.id}", json=change)
            assert (answer.status_code, answer.json()["id"]) == (200, str(person.id)), change
    assert seed.audit_lines() == []


async def test_missing_person_is_404_and_bad_id_422(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_admin=True)) as client:
        missing = await client.patch(f"/api/v1/users/{uuid4()}", json={"is_admin": True})
        assert (missing.status_code, missing.json()) == (404, {"detail": "User not found"})
        assert (await client.patch("/api/v1/users/7", json={"is_admin": True})).status_code == 422
