from uuid import uuid4

from tests.knowledge_bases.roles import create_roles
from tests.support.live_api import RunningApi
from tests.support.seed import Seed


async def test_owner_and_admin_set_members_who_then_see_it(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.colleague) as theirs:
        for person, status in cast.by_access_level:
            async with api.client(person) as client:
                answer = await client.put(cast.member(cast.colleague), json={"role": "viewer"})
            assert answer.status_code == status
            assert (await theirs.get(cast.path)).status_code == (200 if status == 200 else 404)
    assert answer.json() == {"user_id": str(cast.colleague.id), "email": cast.colleague.email, "role": "viewer"}


async def test_owner_and_admin_remove_members_who_then_do_not_see_it(api: RunningApi, seed: Seed) -> None:
    for standing in range(6):
        cast = create_roles(seed)
        seed.member(cast.kb_id, member := seed.person(cast.owner.organization_id), "editor")
        person, status = cast.by_access_level[standing]
        async with api.client(person) as client, api.client(member) as theirs:
            answer = await client.delete(cast.member(member))
            assert answer.status_code == (204 if status == 200 else status)
            assert (await theirs.get(cast.path)).status_code == (404 if status == 200 else 200)


async def test_everybody_in_it_sees_the_members_by_email_and_page(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    expected = sorted([(cast.editor.email, "editor"), (cast.viewer.email, "viewer")])
    for person, status in cast.by_access_level:
        async with api.client(person) as client:
            answer = await client.get(f"{cast.path}/members")
        if status == 404:
            assert (answer.status_code, answer.json()) == (404, {"detail": "Knowledge base not found"})
            continue
        assert [(item["email"], item["role"]) for item in answer.json()["items"]] == expected
    async with api.client(cast.viewer) as client:
        page = (await client.get(f"{cast.path}/members", params={"limit": 1, "page": 2})).json()
    assert ([item["email"] for item in page["items"]], page["total"]) == ([expected[1][0]], 2)


async def test_role_can_be_changed_and_is_one_membership(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        for role in ("editor", "viewer", "editor"):
            await client.put(cast.member(cast.viewer), json={"role": role})
            stored = seed.rows("SELECT role FROM knowledge_base_members WHERE user_id = %s", cast.viewer.id)
            assert stored == [(role,)]


async def test_setting_the_role_that_one_has_writes_no_line(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        assert (await client.put(cast.member(cast.viewer), json={"role": "viewer"})).status_code == 200
    assert seed.audit_lines() == []


async def test_owner_is_refused_as_a_member(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.admin) as client:
        answer = await client.put(cast.member(cast.owner), json={"role": "viewer"})
        removed = await client.delete(cast.member(cast.owner))
    assert (answer.status_code, answer.json()) == (400, {"detail": "The owner already has access"})
    assert (removed.status_code, removed.json()) == (404, {"detail": "Member not found"})
    assert seed.audit_lines() == []


async def test_nobody_of_another_organization_nobody_deactivated_and_nobody_invented_becomes_a_member(
    api: RunningApi, seed: Seed
) -> None:
    cast = create_roles(seed)
    seed.deactivate(cast.colleague)
    async with api.client(cast.owner) as client:
        for user_id in (cast.stranger.id, cast.colleague.id, uuid4()):
            answer = await client.put(f"{cast.path}/members/{user_id}", json={"role": "editor"})
            assert (answer.status_code, answer.json()) == (404, {"detail": "User not found"})
    assert seed.one("SELECT count(*) FROM knowledge_base_members") == 2
    assert seed.audit_lines() == []


async def test_operator_cannot_let_another_organization_in(api: RunningApi, seed: Seed) -> None:
    operator, stranger = seed.person(is_operator=True), seed.person()
    kb_id = seed.knowledge_base(operator)
    async with api.client(operator) as client:
        path = f"/api/v1/knowledge-bases/{kb_id}/members/{stranger.id}"
        assert (await client.put(path, json={"role": "viewer"})).status_code == 404


async def test_unknown_roles_are_422(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    bodies: list[dict[str, object]] = [{"role": "owner"}, {"role": "admin"}, {"role": None}, {}]
    async with api.client(cast.owner) as client:
        for body in bodies:
            assert (await client.put(cast.member(cast.colleague), json=body)).status_code == 422, body
