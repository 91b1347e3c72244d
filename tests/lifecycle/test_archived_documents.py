"""`GET /documents/archived`: an owner's own knowledge bases, an admin's organization, nothing for others."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from muniment.lifecycle.archived_documents import SORTS, ArchivedFilter, ArchivedRepository
from muniment.storage.db.work import Database
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
async def client(api: RunningApi, owner: Person) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client(owner) as client:
        yield client


def archived(seed: Seed, kb_id: UUID, owner: Person, name: str, **columns: Any) -> str:
    return str(seed.document(kb_id, owner, name=name, status="archived", **columns))


async def listed(client: httpx.AsyncClient, **parameters: Any) -> list[str]:
    answer = await client.get("/api/v1/documents/archived", params=parameters)
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


async def test_a_line_has_the_fields_of_the_specification(client: httpx.AsyncClient, seed: Seed, owner: Person) -> None:
    kb_id = seed.knowledge_base(owner, "My KB")
    times = {"archived_at": NOON, "completed_at": NOON - timedelta(days=1)}
    document_id = archived(seed, kb_id, owner, "document.pdf", file_size=1024000, **times)
    answer = await client.get("/api/v1/documents/archived")
    assert answer.json() == {
        "items": [
            {
                "id": document_id,
                "name": "document.pdf",
                "kb_id": str(kb_id),
                "kb_name": "My KB",
                "status": "archived",
                "archived_at": "2026-05-01T12:00:00Z",
                "completed_at": "2026-04-30T12:00:00Z",
                "file_size": 1024000,
            }
        ],
        "total": 1,
        "page": 1,
        "limit": 20,
    }


async def test_an_owner_sees_their_own_an_admin_the_organizations_and_others_nothing(
    api: RunningApi, seed: Seed
) -> None:
    owner = seed.person()
    other = seed.person(owner.organization_id)
    mine, theirs = seed.knowledge_base(owner), seed.knowledge_base(other)
    in_mine, in_theirs = archived(seed, mine, owner, "a.pdf"), archived(seed, theirs, other, "a.pdf")
    stranger = seed.person(is_admin=True)
    foreign = archived(seed, seed.knowledge_base(stranger), stranger, "a.pdf")
    seed.document(mine, owner, name="b.pdf")
    member, admin = seed.person(owner.organization_id), seed.person(owner.organization_id, is_admin=True)
    seed.member(mine, member, "editor")
    seed.member(theirs, owner, "editor")
    for person, expected in (
        (owner, {in_mine}),
        (other, {in_theirs}),
        (admin, {in_mine, in_theirs}),
        (member, set()),
        (seed.person(owner.organization_id, is_operator=True), set()),
        (stranger, {foreign}),
    ):
        async with api.client(person) as client:
            answer = (await client.get("/api/v1/documents/archived")).json()
            assert ({item["id"] for item in answer["items"]}, answer["total"]) == (expected, len(expected))
            of_kb = (await client.get("/api/v1/documents/archived", params={"kb_id": str(mine)})).json()
            in_kb = expected & {in_mine}
            assert ({item["id"] for item in of_kb["items"]}, of_kb["total"]) == (in_kb, len(in_kb))


async def test_it_is_filtered_by_name_and_by_time(client: httpx.AsyncClient, seed: Seed, owner: Person) -> None:
    kb_id = seed.knowledge_base(owner)
    first, second, third = (
        archived(seed, kb_id, owner, name, archived_at=NOON + timedelta(days=day))
        for day, name in enumerate(("Straße 1.pdf", "100%.pdf", "STRASSE 2.pdf"))
    )
    assert await listed(client, search="strasse") == [third, first]
    assert await listed(client, search="0%") == [second]
    assert await listed(client, search="_") == []
    assert await listed(client, archived_from="2026-05-02") == [third, second]
    assert await listed(client, archived_to="2026-05-02") == [second, first]
    assert await listed(client, archived_from="2026-05-02", archived_to="2026-05-02") == [second]
    assert await listed(client, archived_from="2026-05-02T12:00:00Z", archived_to="2026-05-02T14:00:00+02:00") == [
        second
    ]
    assert await listed(client, archived_from="2026-05-02T12:00:01Z") == [third]
    answer = await client.get("/api/v1/documents/archived", params={"search": "strasse", "limit": 1})
    assert (answer.json()["total"], len(answer.json()["items"])) == (2, 1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"sort": "epoch"},
        {"kb_id": "x"},
        {"archived_from": "yesterday"},
        {"archived_to": "2026-05-02T12:00:00"},
        {"limit": "101"},
        {"page": "0"},
        {"search": "\0"},
    ],
)
async def test_what_is_not_understood_is_said(client: httpx.AsyncClient, parameters: dict[str, str]) -> None:
    assert (await client.get("/api/v1/documents/archived", params=parameters)).status_code == 422


WHO = {"an admin": (True, 0), "owner of all": (False, 0), "owner of most": (False, 1), "owner of some": (False, 3)}


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize(("is_admin", "of_others"), WHO.values(), ids=WHO)
async def test_the_pages_together_are_the_whole_list_in_its_order(
    database: Database, seed: Seed, sort: str, is_admin: bool, of_others: int
) -> None:
    """Pages of the second half are counted from the end. The user who owns most documents uses the index of the
    organization, skipping documents that they may read but not manage."""
    owner = seed.person(is_admin=is_admin)
    kbs = [seed.knowledge_base(owner, name) for name in ("one", "two")]
    colleague = seed.person(owner.organization_id)
    for number in range(of_others):
        kb_id = seed.knowledge_base(colleague, f"other {number}")
        seed.member(kb_id, owner, "editor")
        for minute in range(6):
            archived(seed, kb_id, colleague, f"{minute}.pdf", archived_at=NOON + timedelta(minutes=minute))
    rows: list[tuple[UUID, dict[str, Any]]] = []
    for number in range(11):
        at = NOON + timedelta(minutes=number // 2)  # some of them at the same time
        name, size = f"{(number * 7) % 11}.pdf", number % 3
        columns = {"archived_at": at, "completed_at": at - timedelta(days=number % 4), "file_size": size}
        document_id = UUID(archived(seed, kbs[number % 2], owner, name, **columns))
        rows.append((document_id, {"name": name, **columns}))
    column = sort.removeprefix("-")
    expected = [
        document_id
        for document_id, _ in sorted(rows, key=lambda row: (row[1][column], row[0]), reverse=sort.startswith("-"))
    ]
    for limit in (1, 2, 3, 4, 100):
        found: list[UUID] = []
        for page in range(11 // limit + 2):
            wanted = ArchivedFilter(sort=sort, offset=page * limit, limit=limit)
            async with database.work(owner.principal) as work:
                items, total = await ArchivedRepository(work.session).list_(owner.principal, wanted)
            assert total == 11
            found += [document.id for document, _ in items]
        assert found == expected
