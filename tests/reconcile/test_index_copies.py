"""Rows and passages in an index with copies: every way in which they disagree, put right without computing anything."""

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

pytestmark = pytest.mark.parametrize("floor", ["qdrant"], indirect=True)


def model_of(floor: ReconcileHarness) -> IndexingVariant:
    ((name, dimensions, fingerprint),) = floor.seed.rows("SELECT model, dimensions, fingerprint FROM indexing_variants")
    return IndexingVariant(model=name, dimensions=dimensions, fingerprint=fingerprint)


async def held(floor: ReconcileHarness, document_id: UUID | None = None) -> list[StoredPoint]:
    wanted = None if document_id is None else [document_id]
    listed = floor.index.iter_points(floor.kb_id, [model_of(floor)], document_ids=wanted)
    return sorted([item async for item in listed], key=lambda item: (item.document_id, item.epoch, item.chunk_index))


async def put(floor: ReconcileHarness, document_id: UUID, epoch: int, *chunks: int) -> None:
    """Points that no run of today has written."""
    model = model_of(floor)
    some = [Point(chunk, 1, [1.0] * model.dimensions) for chunk in chunks]
    await floor.index.upsert(floor.indexed(document_id), model, epoch, some)


async def orphaned(floor: ReconcileHarness, document_id: UUID) -> None:
    floor.seed.execute("UPDATE document_processing_runs SET artifact_text_id = NULL")
    floor.seed.execute("DELETE FROM documents WHERE id = %s", document_id)
    await floor.stores.objects.delete(f"{floor.kb_id}/{document_id}/1/original")


async def hidden_although_completed(floor: ReconcileHarness, document_id: UUID) -> None:
    await floor.index.set_visible(floor.indexed(document_id), is_visible=False)


async def shown_although_archived(floor: ReconcileHarness, document_id: UUID) -> None:
    floor.seed.execute("UPDATE documents SET status = 'archived' WHERE id = %s", document_id)


async def of_an_older_epoch(floor: ReconcileHarness, document_id: UUID) -> None:
    await put(floor, document_id, 0, 0, 1)


async def of_a_run_that_failed(floor: ReconcileHarness, document_id: UUID) -> None:
    await put(floor, document_id, 7, 0)


async def more_than_the_text_has(floor: ReconcileHarness, document_id: UUID) -> None:
    await put(floor, document_id, 1, 500)


async def all_missing(floor: ReconcileHarness, document_id: UUID) -> None:
    await floor.index.delete_document(floor.indexed(document_id))


async def all_missing_of_an_archived_one(floor: ReconcileHarness, document_id: UUID) -> None:
    await shown_although_archived(floor, document_id)
    await all_missing(floor, document_id)


async def one_missing(floor: ReconcileHarness, document_id: UUID) -> None:
    client = floor.index._client  # type: ignore[attr-defined]  # past every promise
    which = Filter(must=[FieldCondition(key="doc_id", match=MatchValue(value=str(document_id)))])
    (first, *_), _ = await client.scroll(f"kb_{floor.kb_id}", which, limit=1)
    await client.delete(f"kb_{floor.kb_id}", [first.id])


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
    floor: ReconcileHarness, damage: Damage
) -> None:
    document_id, another = await floor.completed(), await floor.completed(b"other bytes")
    wanted, others, embedded = await held(floor, document_id), await held(floor, another), floor.desk.embedder.embedded
    await damage(floor, document_id)
    kind, damaged = DAMAGES[damage], await held(floor)

    assert await floor.drift() == {f"index/{kind}": (1, 1)}
    assert await held(floor) == damaged, "a look changes nothing"
    assert await floor.drift(repair=True) == {f"index/{kind}": (1, 0)}

    status = floor.seed.rows("SELECT status FROM documents WHERE id = %s", document_id)
    is_visible = status == [("completed",)]
    assert await held(floor, document_id) == [replace(item, is_visible=is_visible) for item in wanted if status]
    assert await held(floor, another) == others
    assert floor.desk.embedder.embedded == embedded
    assert await floor.drift(repair=True) == {}


async def test_a_collection_of_a_knowledge_base_that_is_gone_goes_whole(floor: ReconcileHarness) -> None:
    await floor.completed()
    gone = IndexedDocument(uuid4(), uuid4(), uuid4())
    await floor.index.upsert(gone, model_of(floor), 1, [Point(0, 1, [1.0] * model_of(floor).dimensions)])
    assert await floor.drift() == {"index/orphaned": (1, 1)}
    assert await floor.drift(repair=True) == {"index/orphaned": (1, 0)}
    assert await floor.index.list_kb_ids() == [floor.kb_id]
    assert await floor.drift() == {}


async def test_what_an_earlier_revision_showed_stays_as_long_as_it_can_be_brought_back(floor: ReconcileHarness) -> None:
    document_id = await floor.completed()
    before = await held(floor)
    floor.seed.execute("""UPDATE document_revisions SET shelved = '{"index_epoch": 1}'""")
    floor.seed.execute("UPDATE documents SET status = 'failed', epoch = 2, index_epoch = NULL, artifact_text_id = NULL")
    assert await floor.drift(repair=True) == {}
    assert await held(floor, document_id) == before


class Watching:
    def __init__(self) -> None:
        self.documents = 0
        self.totals = list[int]()

    def begin(self, what: str, documents: int) -> None:
        if what == "index":
            self.totals.append(documents)

    def advance(self, documents: int) -> None:
        self.documents += documents


async def test_an_empty_index_is_filled_from_what_was_computed(
    floor: ReconcileHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "DOCUMENT_BATCH", 2)
    ids = [await floor.completed(f"bytes {number}".encode()) for number in range(5)]
    floor.seed.execute("UPDATE documents SET status = 'archived' WHERE id = %s", ids[0])
    before, embedded, watching = await held(floor), floor.desk.embedder.embedded, Watching()
    await floor.stores.vectors.close()
    index = QdrantIndex(LocalQdrant())
    floor.stores = with_vectors(floor.stores, index)

    assert await floor.drift(repair=True, watcher=watching) == {"index/missing": (5, 0)}

    assert await held(floor) == [replace(item, is_visible=item.document_id != ids[0]) for item in before]
    assert (floor.desk.embedder.embedded, watching.documents, watching.totals[0]) == (embedded, 5, 5)
    assert await floor.drift() == {}


async def test_orphans_are_found_whatever_lies_between_them(
    floor: ReconcileHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "POINT_BATCH", 2)
    await floor.completed()
    for _ in range(5):
        await put(floor, uuid4(), 1, 0, 1, 2)
    assert await floor.drift(repair=True) == {"index/orphaned": (5, 0)}
    assert await floor.drift() == {}


@pytest.mark.parametrize("damage", [hidden_although_completed, all_missing, of_an_older_epoch, orphaned])
async def test_a_move_on_its_way_is_left_alone(floor: ReconcileHarness, damage: Damage) -> None:
    document_id = await floor.completed()
    floor.seed.insert(
        "index_intents",
        document_id=document_id,
        id=uuid4(),
        organization_id=floor.desk.owner.organization_id,
        knowledge_base_id=floor.kb_id,
        wanted="hidden",
        epoch=1,
        created_at="infinity",
        next_attempt_at="infinity",
    )
    await damage(floor, document_id)
    before = await held(floor)
    assert await floor.drift(repair=True) == {}
    assert await held(floor) == before


async def test_a_run_on_its_way_is_left_alone(floor: ReconcileHarness) -> None:
    document_id = await floor.completed()
    floor.seed.execute("UPDATE documents SET epoch = 2")
    await floor.desk.enqueue(document_id, epoch=2)
    await put(floor, document_id, 2, 0, 1)
    before = await held(floor)
    assert await floor.drift(repair=True) == {}
    assert await held(floor) == before


async def test_what_a_worker_holds_is_not_put_right_under_its_hands(floor: ReconcileHarness) -> None:
    document_id = await floor.completed()
    await orphaned(floor, document_id)
    async with floor.stores.locks.try_acquire(document_lock_name(document_id), is_shared=True) as is_held:
        assert is_held
        assert await floor.drift(repair=True) == {"index/orphaned": (1, 1)}
        assert await held(floor)
    assert await floor.drift(repair=True) == {"index/orphaned": (1, 0)}


class ChangingIndex(QdrantIndex):
    """Somebody archives the document while the index is being told that it is there."""

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        await super().set_visible(document, is_visible=is_visible)
        if is_visible:
            self.seed.execute("UPDATE documents SET status = 'archived'")  # type: ignore[attr-defined]


async def test_a_document_that_changed_while_the_index_was_told_is_looked_at_again(floor: ReconcileHarness) -> None:
    document_id = await floor.completed()
    await hidden_although_completed(floor, document_id)
    index = ChangingIndex(floor.index._client)  # type: ignore[attr-defined]
    index.seed = floor.seed  # type: ignore[attr-defined]
    floor.stores = with_vectors(floor.stores, index)
    assert await floor.drift(repair=True) == {"index/wrong_status": (1, 1)}
    assert await floor.drift(repair=True) == {"index/wrong_status": (1, 0)}
    assert {item.is_visible for item in await held(floor)} == {False}


class AbsentIndex(QdrantIndex):
    async def list_kb_ids(self) -> Sequence[UUID]:
        raise IndexUnavailable


async def test_an_index_that_does_not_answer_hides_nothing_of_the_others(floor: ReconcileHarness) -> None:
    document_id = await floor.completed()
    await floor.stores.objects.delete(floor.original(document_id))

    floor.stores = with_vectors(floor.stores, AbsentIndex(floor.index._client))  # type: ignore[attr-defined]
    assert await floor.drift() == {"originals/missing": (1, 1), "index/unreachable": (1, 1)}
