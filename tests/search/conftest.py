from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import httpx
import pytest

from muniment.accounts.credentials import Passwords
from muniment.api import with_middleware
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import build_stores
from muniment.search.query.service import SearchService
from muniment.settings import Settings
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from tests.processing.conftest import worker_env  # noqa: F401
from tests.search.passages_fixture import FakeEmbedder, Passage, PassagesFixture
from tests.support.apps import borrow_app
from tests.support.live_api import RunningApi
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER, Person, Seed


@pytest.fixture
def passages_env(seed: Seed) -> PassagesFixture:
    return PassagesFixture(seed)


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
async def api(settings: Settings, embedder: FakeEmbedder) -> AsyncIterator[RunningApi]:
    """The API with a fake embedder."""
    stores = build_stores(settings)
    searching = SearchService(stores.database, PgvectorSearch(stores.database), {embedder.model: embedder})
    parts = replace(build_services(settings, stores, Passwords(CHEAP_HASHER)), search=searching)
    with borrow_app(parts) as app:
        async with serving(with_middleware(app, settings)) as anonymous:
            yield RunningApi(str(anonymous.base_url), app, settings, stores, parts, anonymous)
    await stores.close()


@dataclass(frozen=True)
class SearchFixture:
    """One knowledge base with its owner's client."""

    api: RunningApi
    seed: Seed
    passages_env: PassagesFixture
    owner: Person
    kb_id: UUID
    client: httpx.AsyncClient

    def document(self, *passages: Passage | str, **changes: Any) -> UUID:
        made = [Passage(passage) if isinstance(passage, str) else passage for passage in passages]
        return self.passages_env.add(self.kb_id, self.owner, made, **changes)

    async def ask(self, q: str, **parameters: Any) -> Any:
        answer = await self.client.get("/api/v1/search", params={"q": q, **parameters})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def found(self, q: str, **parameters: Any) -> list[tuple[str, int]]:
        """Return documents and chunks, best first."""
        items = (await self.ask(q, **parameters))["items"]
        return [(item["document_id"], item["chunk_index"]) for item in items]

    async def status(self, **parameters: Any) -> int:
        return (await self.client.get("/api/v1/search", params=parameters)).status_code

    def path(self, document_id: UUID, place: str) -> str:
        return f"/api/v1/knowledge-bases/{self.kb_id}/documents/{document_id}/{place}"

    async def look(self, document_id: UUID, place: str, **parameters: Any) -> Any:
        answer = await self.client.get(self.path(document_id, place), params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()["items"]


@pytest.fixture
async def search_env(api: RunningApi, seed: Seed, passages_env: PassagesFixture) -> AsyncIterator[SearchFixture]:
    owner = seed.person()
    async with api.client(owner) as client:
        yield SearchFixture(api, seed, passages_env, owner, seed.knowledge_base(owner), client)
