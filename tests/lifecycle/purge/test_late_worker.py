"""A worker that still processes a purged document leaves nothing (docs/design.md#i3, #i4, #document-lock)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from muniment.processing.pipeline.processor import RunProcessor
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks, LockGroup
from muniment.storage.db.base import new_id, now
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.tasks.port import READING
from muniment.storage.vectors.port import IndexedDocument, IndexingVariant, Point, VectorSearch
from tests.lifecycle.purge.harness import PurgeHarness
from tests.search.external_index_fixture import FaultyIndex
from tests.support.cluster import service_login
from tests.support.external_index import copier_of
from tests.support.qdrant import LocalQdrant

STORES = ["artifacts", "blobs", "index", "jobs", "queue"]


@dataclass
class Pause:
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self) -> None:
        self.begun.set()
        await self.over.wait()


class SlowObjectStore(FolderObjectStore):
    pause = Pause()

    async def put(self, key: str, data: bytes) -> None:
        await self.pause()
        await super().put(key, data)


class SlowIndex(FaultyIndex):
    pause: Pause | None = None

    async def upsert(
        self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: Sequence[Point]
    ) -> None:
        if self.pause:
            await self.pause()
        await super().upsert(document, model, epoch, points)


class SlowLocks(AdvisoryLocks):
    pause = Pause()

    @asynccontextmanager
    async def open_group(self) -> AsyncIterator[LockGroup]:
        await self.pause()  # before the first lock of the run, which is that of its document
        async with super().open_group() as group:
            yield group


@asynccontextmanager
async def held_up(purge_env: PurgeHarness, document_id: UUID, pause: Pause, **tools: Any) -> AsyncIterator[None]:
    """Pause the worker there for the duration of the block, then let it finish."""
    copies = copier_of(purge_env.stores.database, purge_env.stores.vectors)
    worker = RunProcessor(replace(purge_env.worker_env.services, index_copier=copies, **tools))
    working = asyncio.create_task(purge_env.worker_env.process_with(worker, document_id))
    try:
        await asyncio.wait_for(pause.begun.wait(), 30)
        yield
    finally:
        pause.over.set()
        await asyncio.wait_for(working, 30)


@pytest.fixture
def patience_seconds() -> float:
    return 0.2


async def cancel_and_clear(purge_env: PurgeHarness, document_id: UUID) -> dict[str, Any]:
    assert (await purge_env.client.post(f"{purge_env.path(document_id)}/cancel")).status_code == 200
    answer = await purge_env.clear(document_id)
    return {"status": answer.status_code, **answer.json()}


async def prove(purge_env: PurgeHarness, document_id: UUID) -> None:
    await purge_env.sweep()
    assert await purge_env.left(document_id) == {}
    assert (await purge_env.clear(document_id)).status_code == 200


async def test_no_receipt_while_a_worker_writes_the_text_and_nothing_of_it_after(purge_env: PurgeHarness) -> None:
    document_id, objects = await purge_env.worker_env.document(), SlowObjectStore(purge_env.objects._root)
    objects.pause = Pause()
    async with held_up(purge_env, document_id, objects.pause, objects=objects):
        answer = await cancel_and_clear(purge_env, document_id)
        assert (answer["status"], answer["pending"]) == (202, STORES)
        await purge_env.sweep()
        assert purge_env.worker_env.seed.one("SELECT signed_at FROM receipts") is None
    assert "objects" in await purge_env.left(document_id)  # written by the worker when it continued
    await prove(purge_env, document_id)


@pytest.mark.parametrize("index", [SlowIndex(LocalQdrant())])
async def test_no_receipt_while_a_worker_fills_the_index_and_nothing_of_it_after(
    purge_env: PurgeHarness, index: SlowIndex
) -> None:
    document_id, index.pause = await purge_env.worker_env.document(), Pause()
    async with held_up(purge_env, document_id, index.pause):
        answer = await cancel_and_clear(purge_env, document_id)
        assert (answer["status"], answer["pending"]) == (202, STORES)
    assert "points" in await purge_env.left(document_id)
    await prove(purge_env, document_id)


async def test_a_worker_that_comes_after_the_receipt_is_stopped_by_the_fence(
    purge_env: PurgeHarness, address: DatabaseAddress
) -> None:
    document_id, locks = await purge_env.worker_env.document(), SlowLocks(service_login(address), max_connections=2)
    locks.pause = Pause()
    async with held_up(
        purge_env, document_id, locks.pause, locks=locks
    ):  # it has claimed the run and done nothing else
        assert (await cancel_and_clear(purge_env, document_id))["status"] == 200
    await locks.close()
    assert await purge_env.left(document_id) == {}


async def test_what_a_dead_worker_wrote_goes_and_its_reservation_stays_in_case_it_lives(
    purge_env: PurgeHarness,
) -> None:
    document_id, key = await purge_env.archived(), "artifacts/somebody/unkept"
    await purge_env.objects.put(key, b"text")
    purge_env.worker_env.seed.insert(
        "deletions",
        id=new_id(),
        organization_id=purge_env.worker_env.owner.organization_id,
        knowledge_base_id=purge_env.worker_env.kb_id,
        document_id=document_id,
        store="blobs",
        target=key,
        reason="never_kept",
        next_attempt_at=now() + timedelta(days=1),
    )
    assert (await purge_env.purge(document_id)).status_code == 200
    assert await purge_env.left(document_id) == {}
    assert (
        purge_env.worker_env.seed.one("SELECT count(*) FROM deletions WHERE done_at IS NULL AND reason = 'never_kept'")
        == 1
    )


async def test_two_workers_of_one_document_do_not_wait_for_each_other(purge_env: PurgeHarness) -> None:
    document_id, objects = await purge_env.worker_env.document(), SlowObjectStore(purge_env.objects._root)
    objects.pause = Pause()
    async with held_up(purge_env, document_id, objects.pause, objects=objects):
        assert (await purge_env.client.post(f"{purge_env.path(document_id)}/cancel")).status_code == 200
        other = replace(
            purge_env.worker_env.reading, params_fingerprint="another"
        )  # so that it computes something else
        assert (await purge_env.client.post(f"{purge_env.path(document_id)}/retry")).status_code == 200
        await purge_env.worker(reading_variant=other)(purge_env.worker_env.job(document_id, READING))
        assert purge_env.worker_env.status(document_id) == "completed"


@pytest.fixture
def index() -> VectorSearch | None:
    return None
