from typing import Any
from uuid import UUID

from tests.knowledge_bases.roles import Roles, create_roles
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

NAME = "Contracts and invoices"


def only_payload(seed: Seed, action: str, actor: Person, kb_id: UUID) -> dict[str, Any]:
    (line,) = seed.audit_lines()
    payload: dict[str, Any] = line.pop("payload")
    assert line == {
        "action": action,
        "actor": str(actor.id),
        "organization_id": actor.organization_id,
        "knowledge_base_id": kb_id,
        "document_id": None,
        "address": "127.0.0.1",
    }
    return payload


async def test_creation_is_one_line(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    async with api.client(person) as client:
        made = (await client.post("/api/v1/knowledge-bases", json={"name": "A"})).json()
    payload = only_payload(seed, "knowledge_base_created", person, UUID(made["id"]))
    assert payload == {"knowledge_base_id": made["id"], "name": "A"}


async def test_change_is_one_line_with_before_and_after_of_what_changed(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.admin) as client:
        await client.patch(cast.path, json={"name": NAME, "description": "x", "owner_id": str(cast.viewer.id)})
    payload = only_payload(seed, "knowledge_base_changed", cast.admin, cast.kb_id)
    assert payload == {
        "knowledge_base_id": str(cast.kb_id),
        "name": NAME,
        "before": {"description": "", "owner_id": str(cast.owner.id)},
        "after": {"description": "x", "owner_id": str(cast.viewer.id)},
    }


async def test_deletion_is_one_line_that_outlives_it(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        await client.delete(cast.path)
    payload = only_payload(seed, "knowledge_base_deleted", cast.owner, cast.kb_id)
    assert payload == {"knowledge_base_id": str(cast.kb_id), "name": NAME}


async def test_member_set_is_one_line(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        await client.put(cast.member(cast.colleague), json={"role": "editor"})
    payload = only_payload(seed, "member_set", cast.owner, cast.kb_id)
    assert (payload["user_id"], payload["before"], payload["role"]) == (str(cast.colleague.id), None, "editor")


async def test_a_changed_role_says_what_it_was(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        await client.put(cast.member(cast.viewer), json={"role": "editor"})
    payload = only_payload(seed, "member_set", cast.owner, cast.kb_id)
    assert (payload["before"], payload["role"]) == ("viewer", "editor")


async def test_member_removed_is_one_line(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        await client.delete(cast.member(cast.viewer))
    payload = only_payload(seed, "member_removed", cast.owner, cast.kb_id)
    assert (payload["user_id"], payload["before"]) == (str(cast.viewer.id), "viewer")


async def test_what_is_refused_writes_no_line(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    for person, status in cast.by_access_level:
        if status == 200:
            continue
        async with api.client(person) as client:
            await client.patch(cast.path, json={"name": "x"})
            await client.delete(cast.path)
            await client.put(cast.member(cast.viewer), json={"role": "editor"})
            await client.delete(cast.member(cast.viewer))
    assert seed.audit_lines() == []


WRITES = [
    ("POST", "/api/v1/knowledge-bases", {"name": "A"}),
    ("PATCH", "{path}", {"name": "A"}),
    ("PATCH", "{path}", {"owner_id": "{colleague}"}),
    ("DELETE", "{path}", None),
    ("PUT", "{path}/members/{colleague}", {"role": "viewer"}),
    ("DELETE", "{path}/members/{viewer}", None),
]


async def test_change_whose_line_cannot_be_written_does_not_happen(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    seed.execute("ALTER TABLE audit_events ADD CONSTRAINT nothing_more CHECK (false)")
    before = state(seed)
    async with api.client(cast.owner) as client:
        for method, path, body in WRITES:
            filled = {name: fill(value, cast) for name, value in body.items()} if body else None
            answer = await client.request(method, fill(path, cast), json=filled)
            assert answer.status_code == 500, (method, path)
            assert state(seed) == before, (method, path)


def fill(template: str, cast: Roles) -> str:
    return template.format(path=cast.path, colleague=cast.colleague.id, viewer=cast.viewer.id)


def state(seed: Seed) -> list[list[tuple[Any, ...]]]:
    return [
        seed.rows(f"SELECT t::text FROM {table} t ORDER BY 1")
        for table in ("knowledge_bases", "knowledge_base_members")
    ]
