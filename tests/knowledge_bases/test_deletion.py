import asyncio

import pytest

from tests.knowledge_bases.roles import create_roles
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

NOT_EMPTY = "The knowledge base is not empty. Archived and failed documents count too"


async def test_owner_and_admin_delete_an_empty_one_members_get_403_and_others_404(api: RunningApi, seed: Seed) -> None:
    for standing in range(6):
        cast = create_roles(seed)
        person, status = cast.by_access_level[standing]
        async with api.client(person) as client:
            answer = await client.delete(cast.path)
        assert answer.status_code == (204 if status == 200 else status)
        left = seed.one("SELECT count(*) FROM knowledge_bases WHERE id = %s", cast.kb_id)
        members = seed.one("SELECT count(*) FROM knowledge_base_members WHERE knowledge_base_id = %s", cast.kb_id)
        assert (left, members) == ((0, 0) if status == 200 else (1, 2))


async def test_deleted_one_is_404(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        await client.delete(cast.path)
        for method in ("GET", "DELETE"):
            assert (await client.request(method, cast.path)).status_code == 404


@pytest.mark.parametrize("status", ["pending", "processing", "completed", "failed", "archived"])
async def test_one_document_of_any_status_keeps_it_from_being_deleted(api: RunningApi, seed: Seed, status: str) -> None:
    cast = create_roles(seed)
    document_id = seed.document(cast.kb_id, cast.owner, status=status)
    for person in (cast.owner, cast.admin):
        async with api.client(person) as client:
            answer = await client.delete(cast.path)
            assert (answer.status_code, answer.json()) == (409, {"detail": NOT_EMPTY})
            assert (await client.get(f"{cast.path}/documents/{document_id}")).json()["status"] == status
    assert seed.one("SELECT count(*) FROM document_revisions") == 1
    assert seed.one("SELECT count(*) FROM knowledge_base_members") == 2
    assert seed.audit_lines() == []


async def test_of_many_deletions_at_once_one_deletes_and_writes_the_line(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    async with api.client(cast.owner) as client:
        answers = await asyncio.gather(*(client.delete(cast.path) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [204] + [404] * 7
    assert [line["action"] for line in seed.audit_lines()] == ["knowledge_base_deleted"]


async def test_change_that_crosses_a_deletion_is_done_or_404(api: RunningApi, seed: Seed) -> None:
    for _ in range(3):
        cast = create_roles(seed)
        async with api.client(cast.owner) as client:
            answers = await asyncio.gather(
                client.patch(cast.path, json={"name": "Changed"}),
                client.put(cast.member(cast.colleague), json={"role": "viewer"}),
                client.delete(cast.path),
                client.patch(cast.path, json={"description": "Changed"}),
                client.put(cast.member(cast.viewer), json={"role": "editor"}),
            )
        statuses = [answer.status_code for answer in answers]
        assert statuses.pop(2) == 204
        assert set(statuses) <= {200, 404}
