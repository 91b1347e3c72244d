from collections.abc import AsyncIterator

import pytest

from muniment.bootstrap.stores import build_stores
from muniment.settings import Settings
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.reconcile.harness import IndexedHarness, ReconcileHarness
from tests.support.external_index import with_vectors
from tests.support.qdrant import LocalQdrant
from tests.support.seed import Seed


@pytest.fixture(params=["pgvector"])
async def reconcile_env(
    request: pytest.FixtureRequest, settings: Settings, seed: Seed
) -> AsyncIterator[ReconcileHarness]:
    """Harness with pgvector, or with Qdrant if the test requests it."""
    stores = build_stores(settings)
    index = QdrantIndex(LocalQdrant()) if request.param == "qdrant" else PgvectorSearch(stores.database)
    stores = with_vectors(stores, index)
    worker_env = IndexedHarness(seed, stores.database, stores.objects, stores.locks)
    worker_env.index = index
    yield ReconcileHarness(settings, stores, worker_env)
    await stores.close()
