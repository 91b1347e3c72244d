from collections.abc import AsyncIterator

import pytest

from muniment.settings import Settings
from muniment.storage.vectors.port import VectorSearch
from tests.lifecycle.purge.harness import PurgeHarness, open_harness
from tests.processing.worker_fixture import WorkerFixture
from tests.search.external_index_fixture import FaultyIndex
from tests.support.qdrant import LocalQdrant


@pytest.fixture
def index() -> VectorSearch | None:
    """Override to use an index other than the default."""
    return None


@pytest.fixture
def qdrant() -> FaultyIndex:
    return FaultyIndex(LocalQdrant())


@pytest.fixture
def patience_seconds() -> float:
    """How long a purge waits for a worker that is processing the document."""
    return 2


@pytest.fixture
async def purge_env(
    worker_env: WorkerFixture, settings: Settings, index: VectorSearch | None, patience_seconds: float
) -> AsyncIterator[PurgeHarness]:
    async with open_harness(worker_env, settings, index, patience_seconds=patience_seconds) as purge_env:
        yield purge_env
