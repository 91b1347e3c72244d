from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from muniment.accounts.credentials import Passwords
from muniment.api import framed
from muniment.bootstrap.services import build_parts
from muniment.bootstrap.stores import build_stores
from muniment.search.query.service import Searching
from muniment.settings import Settings
from muniment.storage.vectors.port import VectorIndex
from tests.lifecycle.replace.harness import Bench
from tests.processing.worker_fixture import Desk
from tests.support.apps import app_of
from tests.support.clients import local_client
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER


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
    with app_of(parts) as app:
        async with (
            serving(framed(app, settings)) as anonymous,
            local_client(str(anonymous.base_url), headers=desk.owner.headers) as client,
        ):
            yield Bench(desk, client, stores)
    await parts.pictures.close()
    await stores.close()
