"""An archived document is not found from the response on (docs/design.md#i2), whichever engine holds its passages."""

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import httpx
import pytest

from muniment.accounts.credentials import Passwords
from muniment.api import with_middleware
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import build_stores
from muniment.errors import Unavailable
from muniment.lifecycle.reprocess import BulkReread
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.search.indexing.model_switch import ModelSwitch
from muniment.search.query.service import SearchService
from muniment.settings import Settings
from muniment.storage.tasks.port import RunRequest
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import VectorSearch
from tests.lifecycle.moves.test_archive import move
from tests.lifecycle.test_explain import explain, moves_of
from tests.processing.worker_fixture import WorkerFixture
from tests.search.external_index_fixture import FaultyIndex
from tests.search.letter_embedder import LetterEmbedder
from tests.search.test_journey import hits, process
from tests.support.apps import borrow_app
from tests.support.clients import local_client
from tests.support.external_index import as_external, with_vectors
from tests.support.live_server import serving
from tests.support.qdrant import LocalQdrant
from tests.support.seed import CHEAP_HASHER

NEWER = LetterEmbedder("newer letters")
PUT_BACK = {"detail": "The search index is being repaired, so the document was not changed. Try again shortly"}
RUNS = "SELECT count(*) FROM document_processing_runs WHERE document_id = %s"


@pytest.fixture(params=["pgvector", "qdrant"])
async def index(request: pytest.FixtureRequest, worker_env: WorkerFixture) -> AsyncIterator[VectorSearch]:
    engine: VectorSearch = (
        PgvectorSearch(worker_env.database) if request.param == "pgvector" else FaultyIndex(LocalQdrant())
    )
    yield engine
    await engine.close()


only_qdrant = pytest.mark.parametrize("index", ["qdrant"], indirect=True)


@pytest.fixture
async def client(
    worker_env: WorkerFixture, settings: Settings, index: VectorSearch
) -> AsyncIterator[httpx.AsyncClient]:
    stores = with_vectors(build_stores(settings), index)
    embedders = {embedder.model: embedder for embedder in (worker_env.embedder, NEWER)}
    searching = SearchService(stores.database, index, embedders=embedders)
    parts = replace(build_services(settings, stores, Passwords(CHEAP_HASHER)), search=searching)
    with borrow_app(parts) as app:
        async with (
            serving(with_middleware(app, settings)) as anonymous,
            local_client(str(anonymous.base_url), headers=worker_env.owner.headers) as client,
        ):
            yield client
    await stores.database.close()


async def a_processed(worker_env: WorkerFixture, index: VectorSearch) -> UUID:
    document_id = await worker_env.document()
    await process(worker_env, index, document_id)
    return document_id


async def found(client: httpx.AsyncClient, mode: str = "vector") -> set[str]:
    return {item["document_id"] for item in await hits(client, mode=mode)}


async def found_in_each_mode(client: httpx.AsyncClient) -> list[set[str]]:
    return [await found(client, mode) for mode in ("hybrid", "vector", "text")]


async def test_it_is_found_until_it_is_archived_and_again_when_it_is_restored(
    worker_env: WorkerFixture, index: VectorSearch, client: httpx.AsyncClient
) -> None:
    document_id = await a_processed(worker_env, index)
    for _ in range(2):
        assert await found_in_each_mode(client) == [{str(document_id)}] * 3
        assert (await move(client, worker_env, document_id, "archive")).status_code == 200
        assert await found_in_each_mode(client) == [set()] * 3
        assert (await move(client, worker_env, document_id, "restore")).status_code == 200
    assert await found_in_each_mode(client) == [{str(document_id)}] * 3
    assert worker_env.seed.one("SELECT count(*) FROM index_intents") == 0
    assert worker_env.seed.one(RUNS, document_id) == 1  # nothing was processed again


@only_qdrant
@pytest.mark.parametrize("name", ["archive", "restore"])
@pytest.mark.parametrize("is_done_first", [False, True], ids=["refused", "done without an answer"])
async def test_an_index_that_does_not_answer_leaves_the_document_unchanged_and_is_put_back(
    worker_env: WorkerFixture, index: FaultyIndex, client: httpx.AsyncClient, name: str, is_done_first: bool
) -> None:
    document_id = await a_processed(worker_env, index)
    if name == "restore":
        await move(client, worker_env, document_id, "archive")
    seen, lines = await found(client), worker_env.seed.audit_lines()
    before = worker_env.seed.rows("SELECT * FROM documents")

    index.error, index.is_done_first = Unavailable("a fault of the test"), is_done_first
    answer = await move(client, worker_env, document_id, name)
    assert (answer.status_code, answer.json()) == (503, PUT_BACK)
    assert worker_env.seed.rows("SELECT * FROM documents") == before
    assert worker_env.seed.audit_lines() == lines

    explained = await explain(client, worker_env, document_id)
    assert explained["index_is_being_put_back"]
    assert {"detail": moves_of(explained)[name]["reason"]} == PUT_BACK

    index.error = None
    worker_env.seed.execute("UPDATE index_intents SET next_attempt_at = now()")
    assert await IntentSweep(worker_env.database, as_external(index)).settle_due(worker_env.owner.organization_id) == 1
    assert await found(client) == seen
    assert (await move(client, worker_env, document_id, name)).status_code == 200


@only_qdrant
async def test_a_restore_that_the_name_forbids_tells_the_index_nothing(
    worker_env: WorkerFixture, index: FaultyIndex, client: httpx.AsyncClient
) -> None:
    document_id = await a_processed(worker_env, index)
    await move(client, worker_env, document_id, "archive")
    worker_env.seed.document(worker_env.kb_id, worker_env.owner, name=worker_env.seed.one("SELECT name FROM documents"))
    asked = index.asked
    assert (await move(client, worker_env, document_id, "restore")).status_code == 409
    assert (index.asked, worker_env.seed.one("SELECT count(*) FROM index_intents")) == (asked, 0)


@only_qdrant
async def test_a_late_reread_whose_document_was_archived_shows_nothing_when_it_is_restored(
    worker_env: WorkerFixture, index: FaultyIndex, client: httpx.AsyncClient
) -> None:
    document_id = await a_processed(worker_env, index)
    await move(client, worker_env, document_id, "retry")
    await move(client, worker_env, document_id, "archive")
    await process(worker_env, index, document_id)  # its worker is late
    assert await found(client) == set()
    await move(client, worker_env, document_id, "restore")
    assert await found(client) == {str(document_id)}


async def switch_model(worker_env: WorkerFixture, index: VectorSearch, *documents: UUID) -> None:
    """Switch models as an operator does: configure the new one, index all completed documents, and activate it."""
    worker_env.embedder, worker_env.other_embedders = NEWER, (worker_env.embedder,)
    await BulkReread(worker_env.database, ProcrastinateQueue(), RunRequest()).enqueue()
    for document_id in documents:
        await process(worker_env, index, document_id)
    await ModelSwitch(worker_env.database, NEWER).switch()


async def test_a_document_that_was_away_when_the_model_changed_is_indexed_for_it_when_it_comes_back(
    worker_env: WorkerFixture, index: VectorSearch, client: httpx.AsyncClient
) -> None:
    document_id = await a_processed(worker_env, index)
    await move(client, worker_env, document_id, "archive")
    await switch_model(worker_env, index)
    assert (await move(client, worker_env, document_id, "restore")).status_code == 200
    await process(worker_env, index, document_id)
    assert await found(client) == {str(document_id)}
    assert worker_env.reader.opened == 1  # indexed again, but not read again
    assert [line["action"] for line in worker_env.seed.audit_lines()][-2:] == ["document_restored", "document_retried"]


async def test_it_is_found_even_if_another_document_of_the_same_content_was_indexed_meanwhile(
    worker_env: WorkerFixture, index: VectorSearch, client: httpx.AsyncClient
) -> None:
    away, twin = await a_processed(worker_env, index), await a_processed(worker_env, index)
    await move(client, worker_env, away, "archive")
    await switch_model(worker_env, index, twin)
    assert (await move(client, worker_env, away, "restore")).status_code == 200
    if worker_env.seed.one(RUNS, away) > 1:
        await process(worker_env, index, away)
    assert await found(client) == {str(away), str(twin)}
