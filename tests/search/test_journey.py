"""From an upload to the sentence that a user finds: with pgvector, and with copies in Qdrant."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest
from qdrant_client import AsyncQdrantClient

from muniment.accounts.credentials import Passwords
from muniment.api import with_middleware
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import build_stores
from muniment.processing.pipeline.processor import RunProcessor
from muniment.search.query.service import SearchService
from muniment.settings import Settings
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import IndexedDocument, VectorSearch
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.processing.worker_fixture import WorkerFixture
from tests.support.apps import borrow_app
from tests.support.clients import local_client
from tests.support.external_index import copier_of, count_points
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")  # in the client's local mode


@pytest.fixture(params=["pgvector", "qdrant"])
async def index(request: pytest.FixtureRequest, worker_env: WorkerFixture) -> AsyncIterator[VectorSearch]:
    engine: VectorSearch = (
        PgvectorSearch(worker_env.database)
        if request.param == "pgvector"
        else QdrantIndex(AsyncQdrantClient(":memory:"))
    )
    yield engine
    await engine.close()


@pytest.fixture
async def client(
    worker_env: WorkerFixture, settings: Settings, index: VectorSearch
) -> AsyncIterator[httpx.AsyncClient]:
    stores = build_stores(settings)
    searching = SearchService(stores.database, index, embedders={worker_env.embedder.model: worker_env.embedder})
    parts = replace(build_services(settings, stores, Passwords(CHEAP_HASHER)), search=searching)
    with borrow_app(parts) as app:
        async with (
            serving(with_middleware(app, settings)) as anonymous,
            local_client(str(anonymous.base_url), headers=worker_env.owner.headers) as client,
        ):
            yield client
    await stores.close()


async def process(worker_env: WorkerFixture, index: VectorSearch, document_id: UUID) -> None:
    tools = replace(worker_env.services, index_copier=copier_of(worker_env.database, index))
    await worker_env.process_with(RunProcessor(tools), document_id)


async def hits(client: httpx.AsyncClient, question: str = "contracts", **parameters: str) -> list[dict[str, Any]]:
    answer = await client.get("/api/v1/search", params={"q": question, **parameters})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


async def test_what_was_read_is_found_with_its_page(
    worker_env: WorkerFixture, index: VectorSearch, client: httpx.AsyncClient
) -> None:
    document_id = await worker_env.document()
    await process(worker_env, index, document_id)
    for mode in ("hybrid", "vector", "text"):
        found = await hits(client, mode=mode)
        assert found[0]["document_id"] == str(document_id), mode
        assert found[0]["page"] == 1, mode
        assert "contracts" in found[0]["snippet"], mode


async def test_the_second_upload_is_found_and_costs_no_embedding(
    worker_env: WorkerFixture, index: VectorSearch, client: httpx.AsyncClient
) -> None:
    await process(worker_env, index, await worker_env.document())
    embedded = worker_env.embedder.embedded
    second = await worker_env.document()
    await process(worker_env, index, second)
    assert worker_env.embedder.embedded == embedded
    assert str(second) in {item["document_id"] for item in await hits(client)}


async def test_an_archived_document_is_not_found_whatever_the_index_says(
    worker_env: WorkerFixture, index: VectorSearch, client: httpx.AsyncClient
) -> None:
    document_id = await worker_env.document()
    await process(worker_env, index, document_id)
    worker_env.seed.execute("UPDATE documents SET status = 'archived'")
    assert await hits(client) == []


async def test_a_reread_leaves_no_older_passages_behind(
    worker_env: WorkerFixture, index: VectorSearch, client: httpx.AsyncClient
) -> None:
    document_id = await worker_env.document()
    await process(worker_env, index, document_id)
    indexed = IndexedDocument(document_id, worker_env.kb_id, worker_env.owner.organization_id)
    held = await count_points(index, indexed)
    assert (
        await client.post(f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/retry")
    ).status_code == 200
    await process(worker_env, index, document_id)
    assert await count_points(index, indexed) == held
    assert [item["document_id"] for item in await hits(client, mode="vector")][:1] == [str(document_id)]
