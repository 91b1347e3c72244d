"""What was begun with the old password does not outlive its change."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from muniment.accounts.credentials import Passwords
from muniment.accounts.sign_in import SignIn, WrongCredentials
from muniment.storage.db.base import now
from muniment.storage.db.work import Database
from tests.accounts.browser import browser_of, log_in
from tests.support.live_api import RunningApi
from tests.support.seed import CHEAP_HASHER, PASSWORD, Seed

OTHER_HASH = CHEAP_HASHER.hash("another password")
LOCK = "SELECT pg_advisory_lock(hashtextextended('credentials ' || %s::text, 0))"
UNLOCK = "SELECT pg_advisory_unlock_all()"
WAITING = """
    SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted
"""


class SlowPasswords(Passwords):
    """Something happens while a password is hashed, which takes its time."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        super().__init__(CHEAP_HASHER)
        self._meanwhile = meanwhile

    async def verify(self, stored: str | None, password: str) -> bool:
        result = await super().verify(stored, password)
        self._meanwhile()
        return result


@pytest.mark.parametrize("change", ["password_hash = %s", "password_hash = nullif(%s, password_hash)"])
async def test_no_session_is_opened_with_a_password_that_was_changed_meanwhile(
    database: Database, seed: Seed, change: str
) -> None:
    person = seed.person()
    passwords = SlowPasswords(lambda: seed.execute(f"UPDATE users SET {change}", OTHER_HASH))
    sign_in = SignIn(database, passwords, lifetime=timedelta(days=1))
    with pytest.raises(WrongCredentials):
        await sign_in.with_password(person.email, PASSWORD, address=None, now=now())
    assert seed.rows("SELECT 1 FROM sessions") == []
    assert seed.audit_lines() == []


async def during_a_change(seed: Seed, request: "asyncio.Task[httpx.Response]") -> httpx.Response:
    """Let somebody else change the password while the request waits, and return its response."""
    while not seed.one(WAITING):
        assert not request.done(), request.result().text
        await asyncio.sleep(0.01)
    seed.execute("UPDATE users SET password_hash = %s", OTHER_HASH)
    seed.execute("DELETE FROM sessions")
    seed.execute("UPDATE api_tokens SET revoked_at = now()")
    seed.execute(UNLOCK)
    return await request


async def test_no_token_is_created_in_a_session_that_ended_meanwhile(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    seed.execute(LOCK, person.id)
    async with browser_of(api, seed, person) as client:
        request = asyncio.create_task(client.post("/api/v1/auth/tokens", json={"name": "mine"}))
        assert (await during_a_change(seed, request)).status_code == 401
    assert seed.rows("SELECT 1 FROM api_tokens WHERE revoked_at IS NULL") == []


async def test_no_password_is_set_in_a_session_that_ended_meanwhile(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    seed.execute(LOCK, person.id)
    async with browser_of(api, seed, person) as client:
        change = {"current_password": PASSWORD, "new_password": "of the attacker"}
        request = asyncio.create_task(client.put("/api/v1/auth/password", json=change))
        assert (await during_a_change(seed, request)).status_code == 401
    assert (await log_in(api, person.email, "another password")).status_code == 200


async def test_a_new_password_waits_for_sessions_that_are_being_opened(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    person = seed.person(admin.organization_id)
    seed.execute(LOCK, person.id)
    async with api.client(admin) as client:
        change = {"password": "another password"}
        request = asyncio.create_task(client.patch(f"/api/v1/users/{person.id}", json=change))
        while not seed.one(WAITING):
            assert not request.done()
            await asyncio.sleep(0.01)
        seed.session(person)  # it was being opened
        seed.execute(UNLOCK)
        assert (await request).status_code == 200
    assert seed.rows("SELECT 1 FROM sessions") == []
