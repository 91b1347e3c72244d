"""One index per process: whoever opens the stores opens it, and closes it with them."""

from dataclasses import replace

import pytest

from muniment.bootstrap.processing import open_processing
from muniment.bootstrap.services import build_parts
from muniment.bootstrap.stores import build_stores
from muniment.processing.pipeline.processor import Processing
from muniment.settings import Settings
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.support.qdrant import LocalQdrant


class ClosingIndex(QdrantIndex):
    closed = 0

    async def close(self) -> None:
        self.closed += 1
        await super().close()


@pytest.mark.slow
async def test_requests_and_readers_share_the_index_of_their_stores_which_closes_it(settings: Settings) -> None:
    index = ClosingIndex(LocalQdrant())
    stores = replace(build_stores(settings), index=index)
    parts = build_parts(settings, stores)
    async with open_processing(settings, stores) as process:
        assert isinstance(process, Processing)
        assert process._tools.copies is not None
        assert process._tools.copies.index is parts.searching.index is index
    await parts.searching.close()
    assert index.closed == 0
    await stores.close()
    assert index.closed == 1
