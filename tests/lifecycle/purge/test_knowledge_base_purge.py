"""`DELETE /knowledge-bases/{id}?purge=true`: every document is purged or cleared with a receipt; resumable."""

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
from tests.support.effects import SimulatedCrash

GONE = "Knowledge base and all its documents permanently deleted"
LEAVING = {"detail": "This knowledge base is being deleted"}


@pytest.fixture(params=["pgvector"])
def index(request: pytest.FixtureRequest, qdrant: FaultyIndex) -> VectorSearch | None:
    return qdrant if request.param == "qdrant" else None


# What is left in the stores depends on the engine; what is refused does not.
each_engine = pytest.mark.parametrize("index", ["pgvector", "qdrant"], indirect=True)


async def remove(purge_env: PurgeHarness, client: httpx.AsyncClient | None = None) -> httpx.Response:
    return await (client or purge_env.client).delete(purge_env.kb_path, params={"purge": "true"})


@pytest.mark.parametrize("index", ["qdrant"], indirect=True)
@pytest.mark.parametrize("parameters", [{}, {"purge": "true"}])
async def test_no_index_keeps_the_collection_of_a_knowledge_base_that_is_gone(
    purge_env: PurgeHarness, qdrant: FaultyIndex, parameters: dict[str, str]
) -> None:
    await purge_env.purge(await purge_env.archived())
    assert await qdrant.list_kb_ids() == [purge_env.worker_env.kb_id]
    assert (await purge_env.client.delete(purge_env.kb_path, params=parameters)).is_success
    assert await qdrant.list_kb_ids() == []


async def one_of_each(purge_env: PurgeHarness) -> list[UUID]:
    processing = await purge_env.worker_env.document(b"processing")
    purge_env.worker_env.seed.execute("UPDATE documents SET status = 'processing' WHERE id = %s", processing)
    return [
        processing,
        await purge_env.completed(),
        await purge_env.archived(),
        purge_env.failed(),
        await purge_env.worker_env.document(b"pending"),
    ]


def actions(purge_env: PurgeHarness) -> Counter[str]:
    return Counter(line["action"] for line in purge_env.worker_env.seed.audit_lines())


def is_there(purge_env: PurgeHarness) -> bool:
    return bool(
        purge_env.worker_env.seed.one("SELECT count(*) FROM knowledge_bases WHERE id = %s", purge_env.worker_env.kb_id)
    )


@each_engine
async def test_documents_of_every_status_go_with_receipts_and_then_the_knowledge_base(purge_env: PurgeHarness) -> None:
    ids = await one_of_each(purge_env)
    answer = await remove(purge_env)
    assert (answer.status_code, answer.json()) == (
        200,
        {"message": GONE, "remaining": 0, "pending": 0, "blocked_ids": []},
    )
    assert not is_there(purge_env)
    assert await purge_env.left(*ids) == {}
    receipts = (
        await purge_env.client.get("/api/v1/receipts", params={"kb_id": str(purge_env.worker_env.kb_id)})
    ).json()
    assert {item["document_id"] for item in receipts["items"]} == {str(one) for one in ids}
    done = actions(purge_env)
    assert done["knowledge_base_removal_begun"] == done["knowledge_base_deleted"] == 1
    assert (done["document_purged"], done["document_cleared"], done["document_cancelled"]) == (2, 3, 2)
    assert (await remove(purge_env)).status_code == 404


async def test_an_empty_one_goes_at_once(purge_env: PurgeHarness) -> None:
    assert (await remove(purge_env)).status_code == 200
    assert not is_there(purge_env)


async def test_who_may_remove_it(purge_env: PurgeHarness) -> None:
    for standing in range(6):
        cast = create_roles(purge_env.worker_env.seed)
        purge_env.worker_env.seed.document(cast.kb_id, cast.owner, status="archived")
        person, status = cast.by_access_level[standing]
        async with purge_env.client_of(person) as client:
            answer = await client.delete(cast.path, params={"purge": "true"})
        assert answer.status_code == status
        kept = purge_env.worker_env.seed.rows("SELECT leaving_since FROM knowledge_bases WHERE id = %s", cast.kb_id)
        assert kept == ([] if status == 200 else [(None,)])


async def test_a_pending_hand_over_blocks_and_is_reported_and_the_next_call_continues(purge_env: PurgeHarness) -> None:
    blocked, other = await purge_env.archived(), await purge_env.archived()
    purge_env.worker_env.seed.execute("UPDATE documents SET archive_status = 'pending' WHERE id = %s", blocked)
    answer = await remove(purge_env)
    assert answer.status_code == 202
    assert answer.json()["remaining"] == 1
    assert answer.json()["blocked_ids"] == [str(blocked)]
    assert purge_env.worker_env.status(blocked) == "archived"
    assert purge_env.worker_env.seed.rows("SELECT id FROM documents WHERE id = %s", other) == []
    purge_env.worker_env.seed.execute("UPDATE documents SET archive_status = NULL")
    assert (await remove(purge_env)).status_code == 200
    assert actions(purge_env)["knowledge_base_removal_begun"] == 1


async def test_a_store_that_does_not_delete_keeps_it_until_the_receipts_are_signed(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.completed()
    purge_env.objects.is_unavailable = True
    answer = await remove(purge_env)
    assert (answer.status_code, answer.json()["remaining"], answer.json()["pending"]) == (202, 0, 1)
    assert is_there(purge_env)
    purge_env.objects.is_unavailable = False
    assert (await remove(purge_env)).status_code == 200
    assert await purge_env.left(document_id) == {}


async def test_out_of_time_it_says_what_remains_and_the_next_call_goes_on(purge_env: PurgeHarness) -> None:
    ids = [purge_env.failed() for _ in range(3)]
    hurried = KnowledgeBasePurge(purge_env.parts.engine, budget_seconds=0)
    leaving = await hurried.run(purge_env.worker_env.owner.principal, purge_env.worker_env.kb_id)
    assert (leaving.remaining, leaving.pending, leaving.is_complete) == (3, 0, False)
    assert (await remove(purge_env)).status_code == 200
    assert await purge_env.left(*ids) == {}


async def test_nothing_comes_in_or_back_while_it_is_leaving(purge_env: PurgeHarness) -> None:
    archived, failed = await purge_env.archived(), purge_env.failed()
    completed = await purge_env.completed()
    purge_env.worker_env.seed.execute("UPDATE knowledge_bases SET leaving_since = now()")
    files: dict[str, Any] = {"file": ("new.pdf", b"%PDF-1.4 new")}
    client = purge_env.client
    for answer in (
        await client.post(f"{purge_env.kb_path}/documents", files=files),
        await client.post(f"{purge_env.path(completed)}/replace", files=files),
        await client.post(f"{purge_env.path(failed)}/retry"),
        await client.post(f"{purge_env.path(completed)}/retry"),
        await client.post(f"{purge_env.path(archived)}/restore"),
    ):
        assert (answer.status_code, answer.json()) == (409, LEAVING), answer.request.url
    assert purge_env.worker_env.seed.one("SELECT count(*) FROM uploads") == 0
    assert (await client.get(purge_env.kb_path)).status_code == 200


async def test_of_many_calls_at_once_each_document_goes_once(purge_env: PurgeHarness) -> None:
    ids = await one_of_each(purge_env)
    answers = await asyncio.gather(*(remove(purge_env) for _ in range(4)))
    assert {answer.status_code for answer in answers} <= {200, 202, 404}
    if is_there(purge_env):
        assert (await remove(purge_env)).status_code == 200
    done = actions(purge_env)
    assert done["knowledge_base_deleted"] == done["knowledge_base_removal_begun"] == 1
    assert done["document_purged"] + done["document_cleared"] == len(ids)
    assert await purge_env.left(*ids) == {}


def dying(purge_env: PurgeHarness, step: str, *, is_done_first: bool) -> KnowledgeBasePurge:
    async def die(self: KnowledgeBasePurge, *given: object) -> None:
        if is_done_first:
            await getattr(KnowledgeBasePurge, step)(self, *given)
        raise SimulatedCrash

    removal: KnowledgeBasePurge = type("Dying", (KnowledgeBasePurge,), {step: die})(purge_env.parts.engine)
    return removal


@each_engine
@pytest.mark.parametrize("is_done_first", [False, True])
async def test_a_crash_at_any_step_leaves_something_to_resume(purge_env: PurgeHarness, is_done_first: bool) -> None:
    for step in ("_begin", "_purge_batches", "_prove_receipts", "_finish"):
        kb_id = purge_env.worker_env.seed.knowledge_base(purge_env.worker_env.owner)
        document_id = purge_env.worker_env.seed.document(kb_id, purge_env.worker_env.owner, status="completed")
        with pytest.raises(SimulatedCrash):
            await dying(purge_env, step, is_done_first=is_done_first).run(purge_env.worker_env.owner.principal, kb_id)
        answer = await purge_env.client.delete(f"/api/v1/knowledge-bases/{kb_id}", params={"purge": "true"})
        assert answer.status_code == (404 if is_done_first and step == "_finish" else 200), step
        assert purge_env.worker_env.seed.rows("SELECT id FROM knowledge_bases WHERE id = %s", kb_id) == []
        assert await purge_env.left(document_id) == {}


async def test_without_purge_it_is_as_before(purge_env: PurgeHarness) -> None:
    purge_env.failed()
    assert (await purge_env.client.delete(purge_env.kb_path)).status_code == 409
    purge_env.worker_env.seed.execute("DELETE FROM documents")
    answer = await purge_env.client.delete(purge_env.kb_path)
    assert (answer.status_code, answer.content) == (204, b"")
