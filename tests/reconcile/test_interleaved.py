"""Repairing during a real run, move and purge changes nothing of theirs."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest

from muniment.bootstrap.stores import build_ledger
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.vectors.port import IndexedDocument, IndexingVariant, Point
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.reconcile.harness import IndexedHarness, ReconcileHarness
from tests.support.external_index import count_points, with_vectors
from tests.support.live_api import RunningApi, running_api
from tests.support.qdrant import LocalQdrant


@dataclass
class RepairInterleaver:
    """Reconciles and repairs before each change of a store outside PostgreSQL."""

    reconcile_env: ReconcileHarness | None = None
    places: list[str] = field(default_factory=list)
    found: list[dict[str, tuple[int, int]]] = field(default_factory=list)

    async def run_repair(self, place: str) -> None:
        if self.reconcile_env is None:
            return
        reconcile_env, self.reconcile_env = self.reconcile_env, None  # its own changes are not intercepted
        self.places.append(place)
        self.found.append(await reconcile_env.drift(repair=True))
        self.reconcile_env = reconcile_env


class InterleavedIndex(QdrantIndex):
    def __init__(self, interleaver: RepairInterleaver) -> None:
        super().__init__(LocalQdrant())
        self._interleaver = interleaver

    async def upsert(
        self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: Sequence[Point]
    ) -> None:
        await self._interleaver.run_repair("put points")
        await super().upsert(document, model, epoch, points)
        await self._interleaver.run_repair("points were put")

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        await self._interleaver.run_repair("set visible")
        await super().set_visible(document, is_visible=is_visible)
        await self._interleaver.run_repair("visible was set")

    async def delete_document(self, document: IndexedDocument, *, before_epoch: int | None = None) -> None:
        await self._interleaver.run_repair("remove points")
        await super().delete_document(document, before_epoch=before_epoch)
        await self._interleaver.run_repair("points were removed")


class InterleavedObjectStore(FolderObjectStore):
    interleaver: RepairInterleaver

    async def put(self, key: str, data: bytes) -> None:
        await self.interleaver.run_repair("put object")
        await super().put(key, data)
        await self.interleaver.run_repair("object was put")

    async def delete(self, key: str) -> None:
        await self.interleaver.run_repair("delete object")
        await super().delete(key)
        await self.interleaver.run_repair("object was deleted")


@pytest.fixture
def interleaver() -> RepairInterleaver:
    return RepairInterleaver()


@pytest.fixture
async def interleaved_env(
    reconcile_env: ReconcileHarness, interleaver: RepairInterleaver
) -> AsyncIterator[ReconcileHarness]:
    index, objects = (
        InterleavedIndex(interleaver),
        InterleavedObjectStore(reconcile_env.settings.server.data_dir / "blobs"),
    )
    objects.interleaver = interleaver
    ledger = build_ledger(reconcile_env.stores.database, objects, reconcile_env.stores.handover)
    reconcile_env.stores = replace(with_vectors(reconcile_env.stores, index), objects=objects, ledger=ledger)
    worker_env = IndexedHarness(reconcile_env.seed, reconcile_env.stores.database, objects, reconcile_env.stores.locks)
    worker_env.index = index
    reconcile_env.worker_env = worker_env
    yield reconcile_env
    await index.close()


@pytest.fixture
async def interleaved_api(interleaved_env: ReconcileHarness) -> AsyncIterator[RunningApi]:
    async with running_api(interleaved_env.settings, interleaved_env.stores) as api:
        yield api


async def test_a_run_is_left_alone(interleaved_env: ReconcileHarness, interleaver: RepairInterleaver) -> None:
    document_id = await interleaved_env.document()
    interleaver.reconcile_env = interleaved_env
    await interleaved_env.process(document_id)
    interleaver.reconcile_env = None
    assert {"put object", "object was put", "put points", "points were put", "remove points"} <= set(interleaver.places)
    assert [found for found in interleaver.found if found] == []
    assert interleaved_env.worker_env.status(document_id) == "completed"
    assert await interleaved_env.drift() == {}


async def test_archive_restore_and_purge_are_left_alone(
    interleaved_env: ReconcileHarness, interleaved_api: RunningApi, interleaver: RepairInterleaver
) -> None:
    document_id = await interleaved_env.completed()
    points = await count_points(interleaved_env.stores.vectors, interleaved_env.indexed(document_id))
    interleaver.reconcile_env = interleaved_env
    async with interleaved_api.client(interleaved_env.worker_env.owner) as client:
        for move in ("archive", "restore", "archive"):
            assert (await client.post(path(interleaved_env, document_id, move))).status_code == 200
        purged = await client.delete(path(interleaved_env, document_id, "purge"))
    interleaver.reconcile_env = None
    assert purged.status_code == 200, purged.text
    assert {"set visible", "visible was set", "remove points", "delete object"} <= set(interleaver.places)
    assert [found for found in interleaver.found if found] == []
    assert interleaved_env.seed.one("SELECT points FROM receipts WHERE signed_at IS NOT NULL") == points
    assert await interleaved_env.drift() == {}


def path(reconcile_env: ReconcileHarness, document_id: UUID, move: str) -> str:
    return f"/api/v1/knowledge-bases/{reconcile_env.kb_id}/documents/{document_id}/{move}"
