from collections.abc import AsyncIterator

import pytest

from tests.documents.uploads import KB
from tests.support.live_api import RunningApi
from tests.support.seed import Seed


@pytest.fixture
async def kb(api: RunningApi, seed: Seed) -> AsyncIterator[KB]:
    """A knowledge base of the running API with its owner's client."""
    owner = seed.person()
    async with api.client(owner) as client:
        yield KB(seed.knowledge_base(owner), owner, client)
