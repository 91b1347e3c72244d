"""`POST …/documents/bulk-archive`: documents are archived independently."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest

from muniment.errors import Unavailable
from muniment.lifecycle.bulk import MAX_UNAVAILABLE, bulk_archive
from muniment.storage.db.base import new_id
from muniment.storage.vectors.external_index_updates import RecordedIndexUpdates
from tests.processing.worker_fixture import WorkerFixture
from tests.search.external_index_fixture import FaultyIndex
from tests.support.live_api import RunningApi
from tests.support.qdrant import LocalQdrant


@pytest.fixture
async def client(api: RunningApi, worker_env: WorkerFixture) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client(worker_env.owner) as client:
        yield client


def documents(
    worker_env: WorkerFixture, number: int, status: str = "completed", kb_id: UUID | None = None
) -> list[UUID]:
    return [
        worker_env.seed.document(
            kb_id or worker_env.kb_id, worker_env.owner, name=f"{status} {place}.pdf", status=status
        )
        for place in range(number)
    ]


async def archive(client: httpx.AsyncClient, worker_env: WorkerFixture, ids: Sequence[UUID | str]) -> httpx.Response:
    path = f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/bulk-archive"
    return await client.post(path, json={"document_ids": [str(document_id) for document_id in ids]})


async def test_what_is_completed_is_archived_and_everything_else_is_skipped_and_listed(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    ready = documents(worker_env, 2)
    elsewhere = documents(worker_env, 1, kb_id=worker_env.seed.knowledge_base(worker_env.owner, "Other"))
    stranger = worker_env.seed.person()
    foreign = worker_env.seed.document(worker_env.seed.knowledge_base(stranger), stranger)
    others = [
        *documents(worker_env, 1, "pending"),
        *documents(worker_env, 1, "archived"),
        *elsewhere,
        foreign,
        new_id(),
    ]
    answer = await archive(client, worker_env, [others[0], ready[0], *others[1:], ready[1]])
    assert answer.status_code == 200
    assert answer.json() == {
        "archived": 2,
        "skipped": 5,
        "skipped_ids": [str(document_id) for document_id in others],
        "message": "2 documents archived, 5 skipped (not completed)",
    }
    assert [worker_env.status(document_id) for document_id in ready] == ["archived", "archived"]
    assert [line["document_id"] for line in worker_env.seed.audit_lines()] == ready
    assert [worker_env.status(document_id) for document_id in (*elsewhere, foreign)] == ["completed", "completed"]


async def test_a_document_that_is_named_twice_is_archived_once(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    (document_id,) = documents(worker_env, 1)
    answer = await archive(client, worker_env, [document_id, document_id])
    assert answer.json() == {"archived": 1, "skipped": 0, "skipped_ids": [], "message": "1 document archived"}


@pytest.mark.parametrize(
    "body",
    [
        {"document_ids": []},
        {"document_ids": [str(new_id()) for _ in range(101)]},
        {"document_ids": ["no uuid"]},
        {"document_ids": None},
        {},
    ],
)
async def test_none_or_more_than_a_hundred_are_refused(
    client: httpx.AsyncClient, worker_env: WorkerFixture, body: dict[str, Any]
) -> None:
    answer = await client.post(f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/bulk-archive", json=body)
    assert answer.status_code == 422


async def test_a_hundred_are_archived(client: httpx.AsyncClient, worker_env: WorkerFixture) -> None:
    answer = await archive(client, worker_env, documents(worker_env, 100))
    assert (answer.json()["archived"], answer.json()["message"]) == (100, "100 documents archived")


async def test_a_member_may_not_and_for_a_stranger_it_does_not_exist(
    api: RunningApi, worker_env: WorkerFixture
) -> None:
    ids = documents(worker_env, 1)
    member, stranger = worker_env.seed.person(worker_env.owner.organization_id), worker_env.seed.person()
    worker_env.seed.member(worker_env.kb_id, member, "editor")
    for person, status in ((member, 403), (stranger, 404)):
        async with api.client(person) as client:
            assert (await archive(client, worker_env, ids)).status_code == status
    assert worker_env.status(ids[0]) == "completed"


async def test_an_index_that_is_down_is_asked_a_few_times_only_and_all_are_listed(
    api: RunningApi, worker_env: WorkerFixture
) -> None:
    index = FaultyIndex(LocalQdrant())
    index.error = Unavailable("a fault of the test")
    engine = replace(api.services.engine, index=RecordedIndexUpdates(worker_env.database, index))
    ids = documents(worker_env, 10)
    done = await bulk_archive(engine, worker_env.owner.principal, worker_env.kb_id, ids)
    assert (done.archived_ids, done.skipped_ids, index.asked) == ([], ids, MAX_UNAVAILABLE)
    assert done.message == "0 documents archived, 10 skipped (no response in time, try again)"
    await index.close()
