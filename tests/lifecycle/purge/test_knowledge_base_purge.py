"""`DELETE /knowledge-bases/{id}?purge=true`: every document goes its own way out, with a receipt; resumable."""

import asyncio
from collections import Counter
from typing import Any
from uuid import UUID

import httpx
import pytest

from muniment.lifecycle.knowledge_base_purge import KnowledgeBasePurge
from muniment.storage.vectors.port import VectorSearch
from tests.knowledge_bases.roles import create_roles
from tests.lifecycle.purge.harness import PurgeHarness
from tests.search.external_index_fixture import FaultyIndex

GONE = "Knowledge base and all its documents permanently deleted"
LEAVING = {"detail": "This knowledge base is being deleted"}


@pytest.fixture(params=["pgvector"])
def index(request: pytest.FixtureRequest, qdrant: FaultyIndex) -> VectorSearch | None:
    return qdrant if request.param == "qdrant" else None


# What is left in the stores depends on the engine; what is refused, and to whom, does not.
each_engine = pytest.mark.parametrize("index", ["pgvector", "qdrant"], indirect=True)


async def remove(house: PurgeHarness, client: httpx.AsyncClient | None = None) -> httpx.Response:
    return await (client or house.client).delete(house.kb_path, params={"purge": "true"})


@pytest.mark.parametrize("index", ["qdrant"], indirect=True)
@pytest.mark.parametrize("parameters", [{}, {"purge": "true"}])
async def test_no_index_keeps_the_collection_of_a_knowledge_base_that_is_gone(
    house: PurgeHarness, qdrant: FaultyIndex, parameters: dict[str, str]
) -> None:
    await house.purge(await house.archived())
    assert await qdrant.list_kb_ids() == [house.desk.kb_id]
    assert (await house.client.delete(house.kb_path, params=parameters)).is_success
    assert await qdrant.list_kb_ids() == []


async def one_of_each(house: PurgeHarness) -> list[UUID]:
    processing = await house.desk.document(b"processing")
    house.desk.seed.execute("UPDATE documents SET status = 'processing' WHERE id = %s", processing)
    return [
        processing,
        await house.completed(),
        await house.archived(),
        house.failed(),
        await house.desk.document(b"pending"),
    ]


def actions(house: PurgeHarness) -> Counter[str]:
    return Counter(line["action"] for line in house.desk.seed.audit_lines())


def is_there(house: PurgeHarness) -> bool:
    return bool(house.desk.seed.one("SELECT count(*) FROM knowledge_bases WHERE id = %s", house.desk.kb_id))


@each_engine
async def test_documents_of_every_status_go_with_receipts_and_then_the_knowledge_base(house: PurgeHarness) -> None:
    ids = await one_of_each(house)
    answer = await remove(house)
    assert (answer.status_code, answer.json()) == (
        200,
        {"message": GONE, "remaining": 0, "pending": 0, "blocked_ids": []},
    )
    assert not is_there(house)
    assert await house.left(*ids) == {}
    receipts = (await house.client.get("/api/v1/receipts", params={"kb_id": str(house.desk.kb_id)})).json()
    assert {item["document_id"] for item in receipts["items"]} == {str(one) for one in ids}
    done = actions(house)
    assert done["knowledge_base_removal_begun"] == done["knowledge_base_deleted"] == 1
    assert (done["document_purged"], done["document_cleared"], done["document_cancelled"]) == (2, 3, 2)
    assert (await remove(house)).status_code == 404


async def test_an_empty_one_goes_at_once(house: PurgeHarness) -> None:
    assert (await remove(house)).status_code == 200
    assert not is_there(house)


async def test_who_may_remove_it(house: PurgeHarness) -> None:
    for standing in range(6):
        cast = create_roles(house.desk.seed)
        house.desk.seed.document(cast.kb_id, cast.owner, status="archived")
        person, status = cast.by_access_level[standing]
        async with house.client_of(person) as client:
            answer = await client.delete(cast.path, params={"purge": "true"})
        assert answer.status_code == status
        kept = house.desk.seed.rows("SELECT leaving_since FROM knowledge_bases WHERE id = %s", cast.kb_id)
        assert kept == ([] if status == 200 else [(None,)])


async def test_a_pending_hand_over_blocks_and_is_reported_and_the_next_call_goes_on(house: PurgeHarness) -> None:
    blocked, other = await house.archived(), await house.archived()
    house.desk.seed.execute("UPDATE documents SET archive_status = 'pending' WHERE id = %s", blocked)
    answer = await remove(house)
    assert answer.status_code == 202
    assert answer.json()["remaining"] == 1
    assert answer.json()["blocked_ids"] == [str(blocked)]
    assert house.desk.status(blocked) == "archived"
    assert house.desk.seed.rows("SELECT id FROM documents WHERE id = %s", other) == []
    house.desk.seed.execute("UPDATE documents SET archive_status = NULL")
    assert (await remove(house)).status_code == 200
    assert actions(house)["knowledge_base_removal_begun"] == 1


async def test_a_store_that_does_not_delete_keeps_it_until_the_receipts_are_signed(house: PurgeHarness) -> None:
    document_id = await house.completed()
    house.objects.is_unavailable = True
    answer = await remove(house)
    assert (answer.status_code, answer.json()["remaining"], answer.json()["pending"]) == (202, 0, 1)
    assert is_there(house)
    house.objects.is_unavailable = False
    assert (await remove(house)).status_code == 200
    assert await house.left(document_id) == {}


async def test_out_of_time_it_says_what_remains_and_the_next_call_goes_on(house: PurgeHarness) -> None:
    ids = [house.failed() for _ in range(3)]
    hurried = KnowledgeBasePurge(house.parts.engine, budget_seconds=0)
    leaving = await hurried.run(house.desk.owner.principal, house.desk.kb_id)
    assert (leaving.remaining, leaving.pending, leaving.is_complete) == (3, 0, False)
    assert (await remove(house)).status_code == 200
    assert await house.left(*ids) == {}


async def test_nothing_comes_in_or_back_while_it_is_leaving(house: PurgeHarness) -> None:
    archived, failed = await house.archived(), house.failed()
    completed = await house.completed()
    house.desk.seed.execute("UPDATE knowledge_bases SET leaving_since = now()")
    files: dict[str, Any] = {"file": ("new.pdf", b"%PDF-1.4 new")}
    client = house.client
    for answer in (
        await client.post(f"{house.kb_path}/documents", files=files),
        await client.post(f"{house.path(completed)}/replace", files=files),
        await client.post(f"{house.path(failed)}/retry"),
        await client.post(f"{house.path(completed)}/retry"),
        await client.post(f"{house.path(archived)}/restore"),
    ):
        assert (answer.status_code, answer.json()) == (409, LEAVING), answer.request.url
    assert house.desk.seed.one("SELECT count(*) FROM uploads") == 0
    assert (await client.get(house.kb_path)).status_code == 200


async def test_of_many_calls_at_once_each_document_goes_once(house: PurgeHarness) -> None:
    ids = await one_of_each(house)
    answers = await asyncio.gather(*(remove(house) for _ in range(4)))
    assert {answer.status_code for answer in answers} <= {200, 202, 404}
    if is_there(house):
        assert (await remove(house)).status_code == 200
    done = actions(house)
    assert done["knowledge_base_deleted"] == done["knowledge_base_removal_begun"] == 1
    assert done["document_purged"] + done["document_cleared"] == len(ids)
    assert await house.left(*ids) == {}


class SimulatedCrash(BaseException):
    """The end of the process, as far as its insides can tell."""


def dying(house: PurgeHarness, step: str, *, is_done_first: bool) -> KnowledgeBasePurge:
    async def die(self: KnowledgeBasePurge, *given: object) -> None:
        if is_done_first:
            await getattr(KnowledgeBasePurge, step)(self, *given)
        raise SimulatedCrash

    removal: KnowledgeBasePurge = type("Dying", (KnowledgeBasePurge,), {step: die})(house.parts.engine)
    return removal


@each_engine
@pytest.mark.parametrize("is_done_first", [False, True])
async def test_whoever_dies_anywhere_in_it_leaves_something_to_go_on_with(
    house: PurgeHarness, is_done_first: bool
) -> None:
    for step in ("_begin", "_purge_batches", "_prove_receipts", "_finish"):
        kb_id = house.desk.seed.knowledge_base(house.desk.owner)
        document_id = house.desk.seed.document(kb_id, house.desk.owner, status="completed")
        with pytest.raises(SimulatedCrash):
            await dying(house, step, is_done_first=is_done_first).run(house.desk.owner.principal, kb_id)
        answer = await house.client.delete(f"/api/v1/knowledge-bases/{kb_id}", params={"purge": "true"})
        assert answer.status_code == (404 if is_done_first and step == "_finish" else 200), step
        assert house.desk.seed.rows("SELECT id FROM knowledge_bases WHERE id = %s", kb_id) == []
        assert await house.left(document_id) == {}


async def test_without_purge_it_is_as_before(house: PurgeHarness) -> None:
    house.failed()
    assert (await house.client.delete(house.kb_path)).status_code == 409
    house.desk.seed.execute("DELETE FROM documents")
    answer = await house.client.delete(house.kb_path)
    assert (answer.status_code, answer.content) == (204, b"")
