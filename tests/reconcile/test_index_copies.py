"""Every difference between rows and an external index is repaired without computing anything."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from qdrant_client.models import FieldCondition, Filter, MatchValue

from muniment.reconcile import index_copies as comparing
from muniment.storage.db.advisory_locks import document_lock_name
from muniment.storage.vectors.port import IndexedDocument, IndexingVariant, Point, StoredPoint
from muniment.storage.vectors.qdrant.connection import IndexUnavailable
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.reconcile.harness import ReconcileHarness
from tests.support.external_index import with_vectors
from tests.support.qdrant import LocalQdrant

pytestmark = pytest.mark.parametrize("reconcile_env", ["qdrant"], indirect=True)


def model_of(reconcile_env: ReconcileHarness) -> IndexingVariant:
    ((name, dimensions, fingerprint),) = reconcile_env.seed.rows(
        "SELECT model, dimensions, fingerprint FROM indexing_variants"
    )
    return IndexingVariant(model=name, dimensions=dimensions, fingerprint=fingerprint)


async def held(reconcile_env: ReconcileHarness, document_id: UUID | None = None) -> list[StoredPoint]:
    wanted = None if document_id is None else [document_id]
    listed = reconcile_env.index.iter_points(reconcile_env.kb_id, [model_of(reconcile_env)], document_ids=wanted)
    return sorted([item async for item in listed], key=lambda item: (item.document_id, item.epoch, item.chunk_index))


async def put(reconcile_env: ReconcileHarness, document_id: UUID, epoch: int, *chunks: int) -> None:
    """Store points that no current run has written."""
    model = model_of(reconcile_env)
    some = [Point(chunk, 1, [1.0] * model.dimensions) for chunk in chunks]
    await reconcile_env.index.upsert(reconcile_env.indexed(document_id), model, epoch, some)


async def orphaned(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    reconcile_env.seed.execute("UPDATE document_processing_runs SET artifact_text_id = NULL")
    reconcile_env.seed.execute("DELETE FROM documents WHERE id = %s", document_id)
    await reconcile_env.stores.objects.delete(f"{reconcile_env.kb_id}/{document_id}/1/original")


async def hidden_although_completed(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    await reconcile_env.index.set_visible(reconcile_env.indexed(document_id), is_visible=False)


async def shown_although_archived(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    reconcile_env.seed.execute("UPDATE documents SET status = 'archived' WHERE id = %s", document_id)


async def of_an_older_epoch(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    await put(reconcile_env, document_id, 0, 0, 1)


async def of_a_run_that_failed(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    await put(reconcile_env, document_id, 7, 0)


async def more_than_the_text_has(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    await put(reconcile_env, document_id, 1, 500)


async def all_missing(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    await reconcile_env.index.delete_document(reconcile_env.indexed(document_id))


async def all_missing_of_an_archived_one(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    await shown_although_archived(reconcile_env, document_id)
    await all_missing(reconcile_env, document_id)


async def one_missing(reconcile_env: ReconcileHarness, document_id: UUID) -> None:
    client = reconcile_env.index._client  # type: ignore[attr-defined]  # without the port
    which = Filter(must=[FieldCondition(key="doc_id", match=MatchValue(value=str(document_id)))])
    (first, *_), _ = await client.scroll(f"kb_{reconcile_env.kb_id}", which, limit=1)
    await client.delete(f"kb_{reconcile_env.kb_id}", [first.id])


Damage = Callable[[ReconcileHarness, UUID], Awaitable[None]]
DAMAGES: dict[Damage, str] = {
    orphaned: "orphaned",
    hidden_although_completed: "wrong_status",
    shown_although_archived: "wrong_status",
    of_an_older_epoch: "stale",
    of_a_run_that_failed: "stale",
    more_than_the_text_has: "stale",
    all_missing: "missing",
    all_missing_of_an_archived_one: "missing",
    one_missing: "missing",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_what_disagrees_is_found_and_put_right_without_an_embedding(
    reconcile_env: ReconcileHarness, damage: Damage
) -> None:
    document_id, another = await reconcile_env.completed(), await reconcile_env.completed(b"other bytes")
    wanted, others, embedded = (
        await held(reconcile_env, document_id),
        await held(reconcile_env, another),
        reconcile_env.worker_env.embedder.embedded,
    )
    await damage(reconcile_env, document_id)
    kind, damaged = DAMAGES[damage], await held(reconcile_env)

    assert await reconcile_env.drift() == {f"index/{kind}": (1, 1)}
    assert await held(reconcile_env) == damaged, "a look changes nothing"
    assert await reconcile_env.drift(repair=True) == {f"index/{kind}": (1, 0)}

    status = reconcile_env.seed.rows("SELECT status FROM documents WHERE id = %s", document_id)
    is_visible = status == [("completed",)]
    assert await held(reconcile_env, document_id) == [replace(item, is_visible=is_visible) for item in wanted if status]
    assert await held(reconcile_env, another) == others
    assert reconcile_env.worker_env.embedder.embedded == embedded
    assert await reconcile_env.drift(repair=True) == {}


async def test_a_collection_of_a_knowledge_base_that_is_gone_goes_whole(reconcile_env: ReconcileHarness) -> None:
    await reconcile_env.completed()
    gone = IndexedDocument(uuid4(), uuid4(), uuid4())
    await reconcile_env.index.upsert(
        gone, model_of(reconcile_env), 1, [Point(0, 1, [1.0] * model_of(reconcile_env).dimensions)]
    )
    assert await reconcile_env.drift() == {"index/orphaned": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"index/orphaned": (1, 0)}
    assert await reconcile_env.index.list_kb_ids() == [reconcile_env.kb_id]
    assert await reconcile_env.drift() == {}


async def test_what_an_earlier_revision_showed_stays_as_long_as_it_can_be_brought_back(
    reconcile_env: ReconcileHarness,
) -> None:
    document_id = await reconcile_env.completed()
    before = await held(reconcile_env)
    reconcile_env.seed.execute("""UPDATE document_revisions SET shelved = '{"index_epoch": 1}'""")
    reconcile_env.seed.execute(
        "UPDATE documents SET status = 'failed', epoch = 2, index_epoch = NULL, artifact_text_id = NULL"
    )
    assert await reconcile_env.drift(repair=True) == {}
    assert await held(reconcile_env, document_id) == before


class ProgressRecorder:
    def __init__(self) -> None:
        self.documents = 0
        self.totals = list[int]()

    def begin(self, what: str, documents: int) -> None:
        if what == "index":
            self.totals.append(documents)

    def advance(self, documents: int) -> None:
        self.documents += documents


async def test_an_empty_index_is_filled_from_what_was_computed(
    reconcile_env: ReconcileHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "DOCUMENT_BATCH", 2)
    ids = [await reconcile_env.completed(f"bytes {number}".encode()) for number in range(5)]
    reconcile_env.seed.execute("UPDATE documents SET status = 'archived' WHERE id = %s", ids[0])
    before, embedded, progress = (
        await held(reconcile_env),
        reconcile_env.worker_env.embedder.embedded,
        ProgressRecorder(),
    )
    await reconcile_env.stores.vectors.close()
    index = QdrantIndex(LocalQdrant())
    reconcile_env.stores = with_vectors(reconcile_env.stores, index)

    assert await reconcile_env.drift(repair=True, watcher=progress) == {"index/missing": (5, 0)}

    assert await held(reconcile_env) == [replace(item, is_visible=item.document_id != ids[0]) for item in before]
    assert (reconcile_env.worker_env.embedder.embedded, progress.documents, progress.totals[0]) == (embedded, 5, 5)
    assert await reconcile_env.drift() == {}


async def test_orphans_are_found_whatever_lies_between_them(
    reconcile_env: ReconcileHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "POINT_BATCH", 2)
    await reconcile_env.completed()
    for _ in range(5):
        await put(reconcile_env, uuid4(), 1, 0, 1, 2)
    assert await reconcile_env.drift(repair=True) == {"index/orphaned": (5, 0)}
    assert await reconcile_env.drift() == {}


@pytest.mark.parametrize("damage", [hidden_although_completed, all_missing, of_an_older_epoch, orphaned])
async def test_a_move_on_its_way_is_left_alone(reconcile_env: ReconcileHarness, damage: Damage) -> None:
    document_id = await reconcile_env.completed()
    reconcile_env.seed.insert(
        "index_intents",
        document_id=document_id,
        id=uuid4(),
        organization_id=reconcile_env.worker_env.owner.organization_id,
        knowledge_base_id=reconcile_env.kb_id,
        wanted="hidden",
        epoch=1,
        created_at="infinity",
        next_attempt_at="infinity",
    )
    await damage(reconcile_env, document_id)
    before = await held(reconcile_env)
    assert await reconcile_env.drift(repair=True) == {}
    assert await held(reconcile_env) == before


async def test_a_run_on_its_way_is_left_alone(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    reconcile_env.seed.execute("UPDATE documents SET epoch = 2")
    await reconcile_env.worker_env.enqueue(document_id, epoch=2)
    await put(reconcile_env, document_id, 2, 0, 1)
    before = await held(reconcile_env)
    assert await reconcile_env.drift(repair=True) == {}
    assert await held(reconcile_env) == before


async def test_what_a_worker_holds_is_not_put_right_under_its_hands(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    await orphaned(reconcile_env, document_id)
    async with reconcile_env.stores.locks.try_acquire(document_lock_name(document_id), is_shared=True) as is_held:
        assert is_held
        assert await reconcile_env.drift(repair=True) == {"index/orphaned": (1, 1)}
        assert await held(reconcile_env)
    assert await reconcile_env.drift(repair=True) == {"index/orphaned": (1, 0)}


class ChangingIndex(QdrantIndex):
    """Archives the document while its passages are being shown."""

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        await super().set_visible(document, is_visible=is_visible)
        if is_visible:
            self.seed.execute("UPDATE documents SET status = 'archived'")  # type: ignore[attr-defined]


async def test_a_document_that_changed_during_an_index_update_is_checked_again(
    reconcile_env: ReconcileHarness,
) -> None:
    document_id = await reconcile_env.completed()
    await hidden_although_completed(reconcile_env, document_id)
    index = ChangingIndex(reconcile_env.index._client)  # type: ignore[attr-defined]
    index.seed = reconcile_env.seed  # type: ignore[attr-defined]
    reconcile_env.stores = with_vectors(reconcile_env.stores, index)
    assert await reconcile_env.drift(repair=True) == {"index/wrong_status": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"index/wrong_status": (1, 0)}
    assert {item.is_visible for item in await held(reconcile_env)} == {False}


class AbsentIndex(QdrantIndex):
    async def list_kb_ids(self) -> Sequence[UUID]:
        raise IndexUnavailable


async def test_an_index_that_does_not_answer_hides_nothing_of_the_others(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    await reconcile_env.stores.objects.delete(reconcile_env.original(document_id))

    reconcile_env.stores = with_vectors(reconcile_env.stores, AbsentIndex(reconcile_env.index._client))  # type: ignore[attr-defined]
    assert await reconcile_env.drift() == {"originals/missing": (1, 1), "index/unreachable": (1, 1)}
