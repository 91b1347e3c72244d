from uuid import uuid4

from tests.knowledge_bases.roles import create_roles
from tests.support.live_api import RunningApi
from tests.support.seed import Seed


async def test_owner_and_admin_change_it_members_get_403_and_others_404(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    for person, status in cast.by_access_level:
        async with api.client(person) as client:
            answer = await client.patch(cast.path, json={"name": f"by {person.id}"})
        assert answer.status_code == status
        changed = seed.one("SELECT name FROM knowledge_bases") == f"by {person.id}"
        assert changed == (status == 200)
        detail = {403: "Permission denied", 404: "Knowledge base not found"}
        assert answer.json().get("detail") == detail.get(status)


async def test_each_who_may_see_it_gets_it_with_their_role(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    expected = [(cast.owner, "owner"), (cast.admin, "admin"), (cast.editor, "editor"), (cast.viewer, "viewer")]
    for person, role in expected:
        async with api.client(person) as client:
            assert (await client.get(cast.path)).json()["role"] == role
    for person in (cast.colleague, cast.stranger):
        async with api.client(person) as client:
            assert (await client.get(cast.path)).status_code == 404


async def test_the_hand_over_policy_can_be_set_when_it_is_created(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person()) as client:
        plain = await client.post("/api/v1/knowledge-bases", json={"name": "Plain"})
        given = await client.post(
            "/api/v1/knowledge-bases", json={"name": "Invoices", "hand_over_policy": "on_completed"}
        )
        unknown = await client.post("/api/v1/knowledge-bases", json={"name": "Other", "hand_over_policy": "always"})
    assert (plain.json()["hand_over_policy"], given.json()["hand_over_policy"]) == ("never", "on_completed")
    assert unknown.status_code == 422


async def test_what_is_not_given_stays(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        before = (await client.get(cast.path)).json()
        after = (await client.patch(cast.path, json={"description": "New", "name": None})).json()
    assert after["description"] == "New"
    assert after["updated_at"] > before["updated_at"]
    assert {**after, "description": "", "updated_at": None} == {**before, "updated_at": None}


async def test_change_that_changes_nothing_writes_no_line(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        for body in ({}, {"name": "Contracts and invoices"}, {"owner_id": str(cast.owner.id), "description": ""}):
            assert (await client.patch(cast.path, json=body)).status_code == 200
    assert seed.audit_lines() == []
    assert seed.one("SELECT count(*) FROM knowledge_base_members") == 2


async def test_unfit_change_is_422(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        for body in ({"name": ""}, {"name": "a\0b"}, {"name": "x" * 201}, {"description": "a\0b"}, {"owner_id": "x"}):
            assert (await client.patch(cast.path, json=body)).status_code == 422, body
    assert seed.audit_lines() == []


async def test_new_owner_owns_it_and_the_old_one_stays_as_editor(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as old, api.client(cast.colleague) as new:
        answer = await old.patch(cast.path, json={"owner_id": str(cast.colleague.id)})
        assert (answer.status_code, answer.json()["role"]) == (200, "editor")
        assert answer.json()["owner_id"] == str(cast.colleague.id)
        assert (await new.get(cast.path)).json()["role"] == "owner"
        assert (await old.patch(cast.path, json={"name": "mine again"})).status_code == 403


async def test_member_who_becomes_owner_is_no_longer_a_member(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.admin) as client:
        answer = await client.patch(cast.path, json={"owner_id": str(cast.viewer.id)})
        assert (answer.status_code, answer.json()["role"]) == (200, "admin")
        members = (await client.get(f"{cast.path}/members")).json()["items"]
    assert {member["user_id"]: member["role"] for member in members} == {
        str(cast.owner.id): "editor",
        str(cast.editor.id): "editor",
    }


async def test_nobody_outside_and_nobody_deactivated_becomes_owner(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    seed.deactivate(cast.colleague)
    async with api.client(cast.owner) as client:
        for user_id in (cast.stranger.id, cast.colleague.id, uuid4()):
            answer = await client.patch(cast.path, json={"owner_id": str(user_id), "name": "changed"})
            assert (answer.status_code, answer.json()) == (404, {"detail": "User not found"})
    assert seed.rows("SELECT owner_id, name FROM knowledge_bases") == [(cast.owner.id, "Contracts and invoices")]
    assert seed.audit_lines() == []


async def test_operator_cannot_give_it_to_somebody_of_another_organization(api: RunningApi, seed: Seed) -> None:
    operator, stranger = seed.person(is_operator=True), seed.person()
    kb_id = seed.knowledge_base(operator)
    async with api.client(operator) as client:
        answer = await client.patch(f"/api/v1/knowledge-bases/{kb_id}", json={"owner_id": str(stranger.id)})
    assert answer.status_code == 404
