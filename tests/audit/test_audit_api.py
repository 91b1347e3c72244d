from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from muniment.audit.hashing import INSTALLATION_CHAIN
from muniment.storage.db.base import new_id
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

AUDIT = "/api/v1/audit"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def write(seed: Seed, person: Person, **columns: Any) -> str:
    event_id = new_id()
    line = {"action": "test_done", "actor": str(person.id), "organization_id": person.organization_id, "payload": {}}
    seed.insert("audit_events", id=event_id, **{**line, **columns})
    return str(event_id)


async def listed(api: RunningApi, person: Person, **filters: Any) -> list[str]:
    async with api.client(person) as client:
        answer = await client.get(AUDIT, params=filters)
    assert answer.status_code == 200, answer.text
    assert answer.json()["total"] == len(answer.json()["items"])
    return [item["id"] for item in answer.json()["items"]]


async def test_an_event_has_every_field_and_its_place_once_it_is_sealed(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    ids = {"knowledge_base_id": new_id(), "document_id": new_id()}
    event_id = write(seed, admin, **ids, at=NOON, address="192.0.2.1", payload={"a": 1})
    async with api.client(admin) as client:
        (before,) = (await client.get(AUDIT)).json()["items"]
        await client.get(f"{AUDIT}/export")
        (after,) = (await client.get(AUDIT)).json()["items"]
    assert before == {
        "id": event_id,
        "at": "2026-03-01T12:00:00Z",
        "action": "test_done",
        "actor": str(admin.id),
        "organization_id": str(admin.organization_id),
        "kb_id": str(ids["knowledge_base_id"]),
        "document_id": str(ids["document_id"]),
        "address": "192.0.2.1",
        "payload": {"a": 1},
        "seq": None,
        "sealed": False,
    }
    assert after == {**before, "seq": 1, "sealed": True}


async def test_the_newest_comes_first_page_by_page(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    ids = [write(seed, admin, at=NOON + timedelta(minutes=n)) for n in (2, 0, 1)]
    async with api.client(admin) as client:
        pages = [(await client.get(AUDIT, params={"limit": 2, "page": page})).json() for page in (1, 2)]
    assert [[item["id"] for item in page["items"]] for page in pages] == [[ids[0], ids[2]], [ids[1]]]
    assert [page["total"] for page in pages] == [3, 3]


async def test_each_filter_narrows(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    write(seed, admin, at=NOON)
    kb_id, document_id = new_id(), new_id()
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        "action": ("document_purged", {"action": "document_purged"}),
        "actor": ("system", {"actor": "system"}),
        "kb_id": (str(kb_id), {"knowledge_base_id": kb_id}),
        "document_id": (str(document_id), {"document_id": document_id}),
    }
    for name, (value, columns) in cases.items():
        event_id = write(seed, admin, at=NOON, **columns)
        assert await listed(api, admin, **{name: value}) == [event_id], name


async def test_from_is_included_and_to_is_not(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    first, second = (write(seed, admin, at=NOON + timedelta(hours=n)) for n in (0, 1))
    later = (NOON + timedelta(hours=1)).isoformat()
    assert await listed(api, admin, **{"from": later}) == [second]
    assert await listed(api, admin, to=later) == [first]
    assert await listed(api, admin, **{"from": "2026-03-01T12:00:00", "to": "2026-03-01T13:00:00"}) == [first]


async def test_an_owner_sees_their_knowledge_bases_an_admin_all_and_others_nothing(api: RunningApi, seed: Seed) -> None:
    owner = seed.person()
    admin = seed.person(owner.organization_id, is_admin=True)
    viewer = seed.person(owner.organization_id)
    kb_id = seed.knowledge_base(owner)
    seed.insert(
        "knowledge_base_members",
        knowledge_base_id=kb_id, user_id=viewer.id, organization_id=owner.organization_id, role="viewer",
    )  # fmt: skip
    in_kb = write(seed, owner, knowledge_base_id=kb_id, at=NOON)
    elsewhere = write(seed, owner, at=NOON - timedelta(hours=1))
    assert await listed(api, owner) == [in_kb]
    assert await listed(api, admin) == [in_kb, elsewhere]
    for stranger in (viewer, seed.person(is_admin=True), seed.person(is_operator=True)):
        assert await listed(api, stranger) == []


async def test_an_operator_sees_what_belongs_to_no_organization(api: RunningApi, seed: Seed) -> None:
    operator = seed.person(is_operator=True)
    both = seed.person(is_operator=True, is_admin=True)
    admin = seed.person(is_admin=True)
    event_id, own = write(seed, operator, organization_id=None), write(seed, both)
    assert await listed(api, operator, installation=True) == [event_id]
    assert await listed(api, both, installation=True) == [event_id]
    assert await listed(api, both) == [own]
    assert await listed(api, admin, installation=True) == []


async def test_an_admin_verifies_the_organization_and_an_operator_the_installation(api: RunningApi, seed: Seed) -> None:
    admin, operator, person = seed.person(is_admin=True), seed.person(is_operator=True), seed.person()
    event_id = write(seed, admin)
    async with api.client(admin) as client:
        await client.get(f"{AUDIT}/export")
        good = (await client.get(f"{AUDIT}/verify")).json()
        assert (await client.get(f"{AUDIT}/verify", params={"installation": True})).status_code == 403
        seed.execute("SET session_replication_role = replica")
        seed.execute("UPDATE audit_events SET actor = 'nobody' WHERE id = %s", event_id)
        bad = (await client.get(f"{AUDIT}/verify")).json()
    assert good == {
        "chain": str(admin.organization_id),
        "is_intact": True,
        "events": 1,
        "last_seq": 1,
        "signed_seq": 1,
        "unsealed": 0,
        "problem_count": 0,
        "problems": [],
    }
    assert (bad["is_intact"], bad["problem_count"]) == (False, 1)
    assert bad["problems"][0]["seq"] == 1
    assert "was changed" in bad["problems"][0]["sentence"]
    async with api.client(operator) as client:
        assert (await client.get(f"{AUDIT}/verify", params={"installation": True})).json()["chain"] == str(
            INSTALLATION_CHAIN
        )
        assert (await client.get(f"{AUDIT}/verify")).status_code == 403
    async with api.client(person) as client:
        assert (await client.get(f"{AUDIT}/verify")).status_code == 403


@pytest.mark.parametrize("wrong", [{"format": "xml"}, {"from": "yesterday"}, {"kb_id": "x"}])
async def test_what_is_not_understood_is_refused(api: RunningApi, seed: Seed, wrong: dict[str, str]) -> None:
    async with api.client(seed.person(is_admin=True)) as client:
        assert (await client.get(f"{AUDIT}/export", params=wrong)).status_code == 422
