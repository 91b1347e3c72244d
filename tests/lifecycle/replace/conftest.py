from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from muniment.accounts.credentials import Passwords
from muniment.api import with_middleware
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import build_stores
from muniment.search.query.service import SearchService
from muniment.settings import Settings
from muniment.storage.vectors.port import VectorSearch
from tests.lifecycle.replace.harness import ReplaceHarness
from tests.processing.worker_fixture import WorkerFixture
from tests.support.apps import borrow_app
from tests.support.clients import local_client
from tests.support.external_index import with_vectors
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER


@pytest.fixture
def index() -> VectorSearch | None:
    """Override to use an index other than the default."""
    return None


@pytest.fixture
async def replace_env(
    worker_env: WorkerFixture, settings: Settings, index: VectorSearch | None
) -> AsyncIterator[ReplaceHarness]:
    stores = build_stores(settings)
    stores = with_vectors(stores, index or stores.vectors)
    searching = SearchService(
        stores.database, stores.vectors, embedders={worker_env.embedder.model: worker_env.embedder}
    )
    parts = replace(build_services(settings, stores, Passwords(CHEAP_HASHER)), search=searching)
    with borrow_app(parts) as app:
        async with (
            serving(with_middleware(app, settings)) as anonymous,
            local_client(str(anonymous.base_url), headers=worker_env.owner.headers) as client,
        ):
            yield ReplaceHarness(worker_env, client, stores)
    await parts.images.close()
    await stores.close()
