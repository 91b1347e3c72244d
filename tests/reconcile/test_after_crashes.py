"""Wherever a worker dies, all stores are consistent after reconciliation and a repeated run (docs/design.md#i10)."""

import hashlib
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from muniment.bootstrap.stores import build_stores
from muniment.processing.pipeline.nodes import extract_text
from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import IndexedDocument, IndexingVariant, Point, VectorSearch
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.faults.effects import COMMITTED, STORED, EffectRecorder, die_at
from tests.faults.harness import FaultHarness
from tests.faults.scenarios import SCENARIOS, Scenario
from tests.reconcile.harness import IndexedHarness, ReconcileHarness
from tests.support.external_index import with_vectors
from tests.support.qdrant import LocalQdrant
from tests.support.seed import Seed

TOLD, HEARD = "told the index", "the index heard"
LASTING = {COMMITTED, STORED, TOLD, HEARD}
"""Between two of these nothing changes that outlives the process."""


class WatchedIndex(QdrantIndex):
    effects = EffectRecorder()

    async def upsert(self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: list[Point]) -> None:  # type: ignore[override]
        await self.effects.meet(TOLD)
        await super().upsert(document, model, epoch, points)
        await self.effects.meet(HEARD)

    async def delete_document(self, document: IndexedDocument, *, before_epoch: int | None = None) -> None:
        await self.effects.meet(TOLD)
        await super().delete_document(document, before_epoch=before_epoch)
        await self.effects.meet(HEARD)


@pytest.fixture
async def floor(
    request: pytest.FixtureRequest, settings: Settings, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ReconcileHarness]:
    monkeypatch.setattr(extract_text, "INTERVAL_SECONDS", 0)  # the same effects in every run
    stores = build_stores(settings)
    index: VectorSearch = WatchedIndex(LocalQdrant()) if request.param == "qdrant" else PgvectorSearch(stores.database)
    stores = with_vectors(stores, index)
    desk = IndexedHarness(seed, stores.database, stores.objects, stores.locks)
    desk.index = index
    yield ReconcileHarness(settings, stores, desk)
    await stores.close()


@pytest.fixture
def stage(floor: ReconcileHarness, address: DatabaseAddress) -> FaultHarness:
    return FaultHarness(address, floor.settings.server.data_dir / "blobs", floor.desk)


async def begin(floor: ReconcileHarness, stage: FaultHarness, scenario: Scenario) -> UUID:
    await stage.clear()
    if floor.stores.external_index is not None:
        await floor.stores.external_index.delete_collection(floor.kb_id)
    document_id = await scenario.prepare(stage)
    measured = (len(stage.content), hashlib.sha256(stage.content).hexdigest())
    floor.seed.execute("UPDATE document_revisions SET file_size = %s, sha256 = %s", *measured)
    floor.seed.execute(
        "DELETE FROM procrastinate_jobs WHERE queueing_lock NOT IN"
        " (SELECT run_id::text FROM document_processing_runs WHERE status = 'queued')"
    )
    return document_id


async def run(
    floor: ReconcileHarness, stage: FaultHarness, document_id: UUID, scenario: Scenario, effects: EffectRecorder
) -> bool:
    """Whether the worker died over it."""
    effects.queue = scenario.queue
    index = floor.stores.vectors
    if isinstance(index, WatchedIndex):
        index.effects = effects
    has_died = await stage.dies(document_id, effects)
    if isinstance(index, WatchedIndex):
        index.effects = EffectRecorder()
    return has_died


async def agree(floor: ReconcileHarness) -> bool:
    await floor.reconcile(repair=True)
    return await floor.drift() == {}


WITH_COPIES = ("unknown content", "a file that cannot be read", "a reread by another variant")
"""With an index of another engine the others take the same ways."""
CASES = [("pgvector", name) for name in SCENARIOS] + [("qdrant", name) for name in WITH_COPIES]


@pytest.mark.slow
@pytest.mark.parametrize(("floor", "name"), CASES, indirect=["floor"])
async def test_wherever_a_worker_dies_reconciliation_ends_with_no_drift(
    floor: ReconcileHarness, stage: FaultHarness, name: str
) -> None:
    scenario, whole = SCENARIOS[name], EffectRecorder()
    assert not await run(floor, stage, await begin(floor, stage, scenario), scenario, whole)
    deaths = [number for number, effect in enumerate(whole.reached) if effect.what in LASTING]
    assert deaths
    for number in deaths:
        document_id = await begin(floor, stage, scenario)
        assert await run(floor, stage, document_id, scenario, EffectRecorder(die_at(number)))
        floor.seed.execute("UPDATE procrastinate_jobs SET status = 'doing'")  # in the hands of the dead

        assert await agree(floor), whole.reached[number]
        await floor.process(document_id)
        floor.seed.execute("DELETE FROM procrastinate_jobs")
        assert await floor.drift() == {} or await agree(floor), whole.reached[number]
        assert floor.desk.status(document_id) == ("failed" if stage.desk.reader.error else "completed")
