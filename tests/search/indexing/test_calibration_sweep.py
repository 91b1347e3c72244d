"""Each installed model is measured once, and its variant keeps the result."""

from collections.abc import Sequence
from typing import Any

import pytest

from muniment.search.embedding.calibration import find_measured
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.embedding.port import EmbeddingsUnavailable
from muniment.search.indexing.calibration_sweep import CalibrationSweep
from muniment.search.indexing.repository import IndexRepository, InstalledModels
from muniment.search.variants import variant_for
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from tests.search.letter_embedder import LetterEmbedder
from tests.support.seed import Seed


class Unreachable(LetterEmbedder):
    is_down = True

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.is_down:
            raise EmbeddingsUnavailable
        return await super().embed(texts)


@pytest.fixture
async def model(database: Database) -> Unreachable:
    """A registered model of an endpoint."""
    embedder = Unreachable()
    async with database.service_work(Service()) as work:
        await IndexRepository(work.session).register_variant(variant_for(embedder))
    return embedder


def stored(seed: Seed) -> Any:
    return seed.one("SELECT calibration FROM indexing_variants")


async def test_a_model_is_measured_once(database: Database, seed: Seed, model: Unreachable) -> None:
    model.is_down = False
    sweep = CalibrationSweep(database, lambda: [model])
    await sweep.run()
    measured, embedded = stored(seed), model.embedded
    assert len(measured["background"]) == model.dimensions
    await sweep.run()
    assert (stored(seed), model.embedded) == (measured, embedded)


async def test_a_model_that_does_not_respond_is_measured_later(
    database: Database, seed: Seed, model: Unreachable
) -> None:
    sweep = CalibrationSweep(database, lambda: [model])
    await sweep.run()
    assert stored(seed) is None
    model.is_down = False
    await sweep.run()
    assert stored(seed) is not None


async def test_a_model_that_is_not_registered_is_not_measured(
    database: Database, seed: Seed, model: Unreachable
) -> None:
    other = LetterEmbedder("another")
    await CalibrationSweep(database, lambda: [other]).run()
    assert (stored(seed), other.embedded) == (None, 0)


async def test_the_bundled_model_is_registered_with_its_calibration(database: Database, seed: Seed) -> None:
    bundled = LocalEmbedder()
    async with database.service_work(Service()) as work:
        await InstalledModels(bundled).register(work)
    calibration = find_measured(bundled)
    assert calibration is not None
    assert stored(seed) == calibration.as_json()
