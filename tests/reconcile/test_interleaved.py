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
class Meddler:
    """Reconciles and repairs before each change of a store outside PostgreSQL."""

    reconcile_env: ReconcileHarness | None = None
    places: list[str] = field(default_factory=list)
    found: list[dict[str, tuple[int, int]]] = field(default_factory=list)

    async def meddle(self, place: str) -> None:
        if self.reconcile_env is None:
            return
        reconcile_env, self.reconcile_env = self.reconcile_env, None  # its own changes are not intercepted
        self.places.append(place)
        self.found.append(await reconcile_env.drift(repair=True))
        self.reconcile_env = reconcile_env


class MeddledIndex(QdrantIndex):
    def __init__(self, meddler: Meddler) -> None:
        super().__init__(LocalQdrant())
        self._meddler = meddler

    async def upsert(
        self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: Sequence[Point]
    ) -> None:
        await self._meddler.meddle("put points")
        await super().upsert(document, model, epoch, points)
        await self._meddler.meddle("points were put")

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        await self._meddler.meddle("set visible")
        await super().set_visible(document, is_visible=is_visible)
        await self._meddler.meddle("visible was set")

    async def delete_document(self, document: IndexedDocument, *, before_epoch: int | None = None) -> None:
        await self._meddler.meddle("remove points")
        await super().delete_document(document, before_epoch=before_epoch)
        await self._meddler.meddle("points were removed")


class MeddledObjects(FolderObjectStore):
    meddler: Meddler

    async def put(self, key: str, data: bytes) -> None:
        await self.meddler.meddle("put object")
        await super().put(key, data)
        await self.meddler.meddle("object was put")

    async def delete(self, key: str) -> None:
        await self.meddler.meddle("delete object")
        await super().delete(key)
        await self.meddler.meddle("object was deleted")


@pytest.fixture
def meddler() -> Meddler:
    return Meddler()


@pytest.fixture
async def meddled(reconcile_env: ReconcileHarness, meddler: Meddler) -> AsyncIterator[ReconcileHarness]:
    index, objects = MeddledIndex(meddler), MeddledObjects(reconcile_env.settings.server.data_dir / "blobs")
    objects.meddler = meddler
    ledger = build_ledger(reconcile_env.stores.database, objects, reconcile_env.stores.handover)
    reconcile_env.stores = replace(with_vectors(reconcile_env.stores, index), objects=objects, ledger=ledger)
    worker_env = IndexedHarness(reconcile_env.seed, reconcile_env.stores.database, objects, reconcile_env.stores.locks)
    worker_env.index = index
    reconcile_env.worker_env = worker_env
    yield reconcile_env
    await index.close()


@pytest.fixture
async def meddled_api(meddled: ReconcileHarness) -> AsyncIterator[RunningApi]:
    async with running_api(meddled.settings, meddled.stores) as api:
        yield api


async def test_a_run_is_left_alone(meddled: ReconcileHarness, meddler: Meddler) -> None:
    document_id = await meddled.document()
    meddler.reconcile_env = meddled
    await meddled.process(document_id)
    meddler.reconcile_env = None
    assert {"put object", "object was put", "put points", "points were put", "remove points"} <= set(meddler.places)
    assert [found for found in meddler.found if found] == []
    assert meddled.worker_env.status(document_id) == "completed"
    assert await meddled.drift() == {}


async def test_archive_restore_and_purge_are_left_alone(
    meddled: ReconcileHarness, meddled_api: RunningApi, meddler: Meddler
) -> None:
    document_id = await meddled.completed()
    points = await count_points(meddled.stores.vectors, meddled.indexed(document_id))
    meddler.reconcile_env = meddled
    async with meddled_api.client(meddled.worker_env.owner) as client:
        for move in ("archive", "restore", "archive"):
            assert (await client.post(path(meddled, document_id, move))).status_code == 200
        purged = await client.delete(path(meddled, document_id, "purge"))
    meddler.reconcile_env = None
    assert purged.status_code == 200, purged.text
    assert {"set visible", "visible was set", "remove points", "delete object"} <= set(meddler.places)
    assert [found for found in meddler.found if found] == []
    assert meddled.seed.one("SELECT points FROM receipts WHERE signed_at IS NOT NULL") == points
    assert await meddled.drift() == {}


def path(reconcile_env: ReconcileHarness, document_id: UUID, move: str) -> str:
    return f"/api/v1/knowledge-bases/{reconcile_env.kb_id}/documents/{document_id}/{move}"
