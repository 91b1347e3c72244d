"""What ends with a user's access, and what users cannot grant themselves."""

import pytest

from tests.support.live_api import RunningApi
from tests.support.seed import Seed

ME = "/api/v1/auth/me"
ATTEMPTS = 10
"""A check that takes longer than two seconds counts as failed, which can happen while other tests use all cores."""


@pytest.mark.parametrize("change", [{"password": "a new password"}, {"is_active": False}])
async def test_a_reset_or_a_lockout_ends_the_api_tokens_for_good(
    api: RunningApi, seed: Seed, change: dict[str, object]
) -> None:
    admin = seed.person(is_admin=True)
    person, colleague = seed.person(admin.organization_id), seed.person(admin.organization_id)
    async with api.client(admin) as client:
        assert (await client.patch(f"/api/v1/users/{person.id}", json=change)).status_code == 200
        await client.patch(f"/api/v1/users/{person.id}", json={"is_active": True})
    assert (await api.anonymous.get(ME, headers=person.headers)).status_code == 401
    assert (await api.anonymous.get(ME, headers=colleague.headers)).status_code == 200


async def test_an_operator_does_not_make_themselves_admin(api: RunningApi, seed: Seed) -> None:
    operator = seed.person(is_operator=True)
    async with api.client(operator) as client:
        answer = await client.patch(f"/api/v1/users/{operator.id}", json={"is_admin": True})
    assert answer.status_code == 403
    assert not seed.one("SELECT is_admin FROM users WHERE id = %s", operator.id)


async def test_a_slash_too_many_is_no_redirect_that_could_lead_out_of_encryption(api: RunningApi) -> None:
    assert (await api.anonymous.get("/api/v1/knowledge-bases/")).status_code == 404


async def test_ready_says_degraded_when_only_the_worker_is_missing(api: RunningApi) -> None:
    for _ in range(ATTEMPTS):
        answer = await api.anonymous.get("/health/ready")
        if answer.status_code == 200:
            break
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
