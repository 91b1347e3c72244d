"""Permissions for organizations and users, as one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import httpx
import pytest

from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Person, Seed

CALLERS = [(False, False), (True, False), (False, True), (True, True)]
"""User, admin, operator, both."""


@dataclass(frozen=True)
class Target:
    own: UUID
    other: UUID
    colleague: UUID
    stranger: UUID
    operator_colleague: UUID
    new_email: str


@dataclass(frozen=True)
class ApiCall:
    method: str
    path: str
    body: Mapping[str, object] | None
    expected: tuple[int, int, int, int]
    """For user, admin, operator, both."""

    async def do(self, client: httpx.AsyncClient, target: Target) -> httpx.Response:
        body = {name: getattr(target, str(value), value) for name, value in (self.body or {}).items()}
        return await client.request(
            self.method,
            "/api/v1" + self.path.format(**vars(target)),
            json={name: str(value) if isinstance(value, UUID) else value for name, value in body.items()} or None,
        )


NEW = {"email": "new_email", "password": PASSWORD}
CALLS = {
    "create organization": ApiCall("POST", "/organizations", {"name": "Ny AS"}, (403, 403, 201, 201)),
    "list organizations": ApiCall("GET", "/organizations", None, (403, 403, 200, 200)),
    "rename own organization": ApiCall("PATCH", "/organizations/{own}", {"name": "Ny AS"}, (403, 403, 200, 200)),
    "rename other organization": ApiCall("PATCH", "/organizations/{other}", {"name": "Ny AS"}, (403, 403, 200, 200)),
    "list users": ApiCall("GET", "/users", None, (403, 200, 200, 200)),
    "create user": ApiCall("POST", "/users", NEW, (403, 201, 201, 201)),
    "create user in own": ApiCall("POST", "/users", {**NEW, "organization_id": "own"}, (403, 201, 201, 201)),
    "create user in other": ApiCall("POST", "/users", {**NEW, "organization_id": "other"}, (403, 404, 201, 201)),
    "create admin": ApiCall("POST", "/users", {**NEW, "is_admin": True}, (403, 201, 201, 201)),
    "create operator": ApiCall("POST", "/users", {**NEW, "is_operator": True}, (403, 403, 201, 201)),
    "make admin": ApiCall("PATCH", "/users/{colleague}", {"is_admin": True}, (403, 200, 200, 200)),
    "make operator": ApiCall("PATCH", "/users/{colleague}", {"is_operator": True}, (403, 403, 200, 200)),
    "deactivate colleague": ApiCall("PATCH", "/users/{colleague}", {"is_active": False}, (403, 200, 200, 200)),
    "deactivate stranger": ApiCall("PATCH", "/users/{stranger}", {"is_active": False}, (403, 404, 200, 200)),
    "touch an operator": ApiCall("PATCH", "/users/{operator_colleague}", {"is_active": False}, (403, 403, 200, 200)),
    "new password of an operator": ApiCall(
        "PATCH", "/users/{operator_colleague}", {"password": "another password"}, (403, 403, 200, 200)
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
async def test_each_may_do_what_the_table_says_and_nothing_else(api: RunningApi, seed: Seed, call: ApiCall) -> None:
    for (is_admin, is_operator), expected in zip(CALLERS, call.expected, strict=True):
        caller = seed.person(is_admin=is_admin, is_operator=is_operator)
        target = a_target(seed, caller)
        async with api.client(caller) as client:
            answer = await call.do(client, target)
        assert answer.status_code == expected, (is_admin, is_operator, answer.text)
        if expected == 403:
            assert answer.json() == {"detail": "Permission denied"}
        lines = [line for line in seed.audit_lines() if line["actor"] == str(caller.id)]
        assert len(lines) == (1 if expected < 300 and call.method != "GET" else 0), (is_admin, is_operator)


def a_target(seed: Seed, caller: Person) -> Target:
    stranger = seed.person()
    return Target(
        own=caller.organization_id,
        other=stranger.organization_id,
        colleague=seed.person(caller.organization_id).id,
        stranger=stranger.id,
        operator_colleague=seed.person(caller.organization_id, is_operator=True).id,
        new_email=f"{caller.id}@example.org",
    )


async def test_operator_who_is_no_admin_sees_no_knowledge_base_and_no_document(api: RunningApi, seed: Seed) -> None:
    operator = seed.person(is_operator=True)
    owner = seed.person(operator.organization_id)
    kb_id = seed.knowledge_base(owner)
    document_id = seed.document(kb_id, owner)
    kb = f"/api/v1/knowledge-bases/{kb_id}"
    async with api.client(operator) as client:
        assert (await client.get("/api/v1/knowledge-bases")).json()["items"] == []
        for path in (kb, f"{kb}/members", f"{kb}/documents", f"{kb}/documents/{document_id}"):
            assert (await client.get(path)).status_code == 404, path
        assert (await client.get(f"{kb}/documents/{document_id}/download")).status_code == 404
        assert (await client.patch(kb, json={"name": "mine now"})).status_code == 404
        assert (await client.delete(kb)).status_code == 404
