"""Wherever a worker dies, all stores are consistent after reconciliation and a repeated run (docs/design.md#i10)."""

import hashlib
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from muniment.bootstrap.stores import build_stores
from muniment.processing.pipeline import progress
from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import IndexedDocument, IndexingVariant, Point, VectorSearch
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.faults.effects import COMMITTED, STORED, RunEffectRecorder, die_at
from tests.faults.harness import FaultHarness
from tests.faults.scenarios import SCENARIOS, Scenario
from tests.reconcile.harness import IndexedHarness, ReconcileHarness
from tests.support.external_index import with_vectors
from tests.support.qdrant import LocalQdrant
from tests.support.seed import Seed

TOLD, HEARD = "told the index", "the index heard"
LASTING = {COMMITTED, STORED, TOLD, HEARD}
"""Effects that outlive the process."""


class WatchedIndex(QdrantIndex):
    effects = RunEffectRecorder()

    async def upsert(self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: list[Point]) -> None:  # type: ignore[override]
        await self.effects.meet(TOLD)
        await super().upsert(document, model, epoch, points)
        await self.effects.meet(HEARD)

    async def delete_document(self, document: IndexedDocument, *, before_epoch: int | None = None) -> None:
        await self.effects.meet(TOLD)
        await super().delete_document(document, before_epoch=before_epoch)
        await self.effects.meet(HEARD)


@pytest.fixture
async def reconcile_env(
    request: pytest.FixtureRequest, settings: Settings, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ReconcileHarness]:
    monkeypatch.setattr(progress, "INTERVAL_SECONDS", 0)  # the same effects in every run
    stores = build_stores(settings)
    index: VectorSearch = WatchedIndex(LocalQdrant()) if request.param == "qdrant" else PgvectorSearch(stores.database)
    stores = with_vectors(stores, index)
    worker_env = IndexedHarness(seed, stores.database, stores.objects, stores.locks)
    worker_env.index = index
    yield ReconcileHarness(settings, stores, worker_env)
    await stores.close()


@pytest.fixture
def fault_env(reconcile_env: ReconcileHarness, address: DatabaseAddress) -> FaultHarness:
    return FaultHarness(address, reconcile_env.settings.server.data_dir / "blobs", reconcile_env.worker_env)


async def begin(reconcile_env: ReconcileHarness, fault_env: FaultHarness, scenario: Scenario) -> UUID:
    await fault_env.clear()
    if reconcile_env.stores.external_index is not None:
        await reconcile_env.stores.external_index.delete_collection(reconcile_env.kb_id)
    document_id = await scenario.prepare(fault_env)
    measured = (len(fault_env.content), hashlib.sha256(fault_env.content).hexdigest())
    reconcile_env.seed.execute("UPDATE document_revisions SET file_size = %s, sha256 = %s", *measured)
    reconcile_env.seed.execute(
        "DELETE FROM procrastinate_jobs WHERE queueing_lock NOT IN"
        " (SELECT run_id::text FROM document_processing_runs WHERE status = 'queued')"
    )
    return document_id


async def run(
    reconcile_env: ReconcileHarness,
    fault_env: FaultHarness,
    document_id: UUID,
    scenario: Scenario,
    effects: RunEffectRecorder,
) -> bool:
    """Return whether the worker crashed."""
    effects.queue = scenario.queue
    index = reconcile_env.stores.vectors
    if isinstance(index, WatchedIndex):
        index.effects = effects
    has_died = await fault_env.dies(document_id, effects)
    if isinstance(index, WatchedIndex):
        index.effects = RunEffectRecorder()
    return has_died


async def agree(reconcile_env: ReconcileHarness) -> bool:
    await reconcile_env.reconcile(repair=True)
    return await reconcile_env.drift() == {}


WITH_COPIES = ("unknown content", "a file that cannot be read", "a reread by another variant")
"""Scenarios for an external index: the others take the same paths."""
IN_EVERY_RUN = {("pgvector", "a reread by another variant"), ("qdrant", "unknown content")}
"""The longest way with each engine; `make test-faults` tries all."""
CASES = [
    pytest.param(engine, name, marks=() if (engine, name) in IN_EVERY_RUN else pytest.mark.every_fault)
    for engine, names in (("pgvector", SCENARIOS), ("qdrant", WITH_COPIES))
    for name in names
]


@pytest.mark.slow
@pytest.mark.parametrize(("reconcile_env", "name"), CASES, indirect=["reconcile_env"])
async def test_wherever_a_worker_dies_reconciliation_ends_with_no_drift(
    reconcile_env: ReconcileHarness, fault_env: FaultHarness, name: str
) -> None:
    scenario, whole = SCENARIOS[name], RunEffectRecorder()
    assert not await run(reconcile_env, fault_env, await begin(reconcile_env, fault_env, scenario), scenario, whole)
    deaths = [number for number, effect in enumerate(whole.recorded) if effect.what in LASTING]
    assert deaths
    for number in deaths:
        document_id = await begin(reconcile_env, fault_env, scenario)
        assert await run(reconcile_env, fault_env, document_id, scenario, RunEffectRecorder(die_at(number)))
        reconcile_env.seed.execute("UPDATE procrastinate_jobs SET status = 'doing'")  # held by the dead worker

        assert await agree(reconcile_env), whole.recorded[number]
        await reconcile_env.process(document_id)
        reconcile_env.seed.execute("DELETE FROM procrastinate_jobs")
        assert await reconcile_env.drift() == {} or await agree(reconcile_env), whole.recorded[number]
        assert reconcile_env.worker_env.status(document_id) == (
            "failed" if fault_env.worker_env.reader.error else "completed"
        )
