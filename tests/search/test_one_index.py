"""One index per process: it is opened and closed with the stores."""

import pytest

from muniment.bootstrap.job_handlers import open_job_handlers
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import build_stores
from muniment.bootstrap.worker import build_worker_registry
from muniment.processing.pipeline.processor import RunProcessor
from muniment.settings import Settings
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.support.external_index import with_vectors
from tests.support.qdrant import LocalQdrant


class ClosingIndex(QdrantIndex):
    closed = 0

    async def close(self) -> None:
        self.closed += 1
        await super().close()


@pytest.mark.slow
async def test_requests_and_readers_share_the_index_of_their_stores_which_closes_it(settings: Settings) -> None:
    index = ClosingIndex(LocalQdrant())
    stores = with_vectors(build_stores(settings), index)
    parts = build_services(settings, stores)
    async with open_job_handlers(settings, stores, build_worker_registry(settings, stores)) as handlers:
        assert isinstance(process := handlers.run, RunProcessor)
        assert process._services.index_copier is not None
        assert process._services.index_copier.index is parts.search.index is index
    await parts.search.close()
    assert index.closed == 0
    await stores.close()
    assert index.closed == 1
