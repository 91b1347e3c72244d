from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from muniment.accounts.passwords import Passwords
from muniment.api import create_app, framed
from muniment.bootstrap import build_parts, build_stores
from muniment.search.service import Searching
from muniment.settings import Settings
from muniment.storage.vectors.port import VectorIndex
from tests.http.live_server import serving
from tests.lifecycle.replacing.bench import Bench
from tests.processing.desk import Desk
from tests.seed import CHEAP_HASHER


@pytest.fixture
def index() -> VectorIndex | None:
    """Another one than the default."""
    return None


@pytest.fixture
async def bench(desk: Desk, settings: Settings, index: VectorIndex | None) -> AsyncIterator[Bench]:
    stores = build_stores(settings)
    stores = replace(stores, index=index or stores.index)
    searching = Searching(stores.database, stores.index, embedders={desk.embedder.model: desk.embedder})
    parts = replace(build_parts(settings, stores, Passwords(CHEAP_HASHER)), searching=searching)
    async with serving(framed(create_app(parts), settings)) as anonymous:
        url = str(anonymous.base_url)
        async with httpx.AsyncClient(base_url=url, headers=desk.owner.headers, trust_env=False, timeout=30) as client:
            yield Bench(desk, client, stores)
    await parts.pictures.close()
    await stores.close()
