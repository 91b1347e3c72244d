from collections.abc import AsyncIterator

import pytest

from muniment.settings import Settings
from muniment.storage.vectors.port import VectorIndex
from tests.lifecycle.purge.harness import House, open_house
from tests.processing.worker_fixture import Desk
from tests.search.external_index_fixture import FaultyIndex
from tests.support.qdrant import LocalQdrant


@pytest.fixture
def index() -> VectorIndex | None:
    """Another one than the default."""
    return None


@pytest.fixture
def qdrant() -> FaultyIndex:
    return FaultyIndex(LocalQdrant())


@pytest.fixture
def patience_seconds() -> float:
    """For a worker in the midst of a document."""
    return 2


@pytest.fixture
async def house(
    desk: Desk, settings: Settings, index: VectorIndex | None, patience_seconds: float
) -> AsyncIterator[House]:
    async with open_house(desk, settings, index, patience_seconds=patience_seconds) as house:
        yield house
