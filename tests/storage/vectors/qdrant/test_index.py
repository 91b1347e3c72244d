"""Specific to Qdrant, beyond the contract of all indexes: names, payload, several models, deletes that lie."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4, uuid5

import pytest
from qdrant_client.models import Record

from muniment.errors import Unavailable
from muniment.storage.vectors.port import ExternalIndex, IndexedDocument
from muniment.storage.vectors.qdrant.connection import IndexRejected
from muniment.storage.vectors.qdrant.index import DELETE_ATTEMPTS, PointsStillPresent, QdrantIndex
from tests.support.qdrant import (
    MODEL,
    NO_WORK,
    OTHER_MODEL,
    AcknowledgingQdrant,
    LocalQdrant,
    NonDeletingQdrant,
    a_document,
    points,
)


@pytest.fixture
async def client() -> AsyncIterator[LocalQdrant]:
    client = LocalQdrant()
    yield client
    await client.close()


@pytest.fixture
def index(client: LocalQdrant) -> ExternalIndex:
    return QdrantIndex(client)


async def held(client: LocalQdrant, document: IndexedDocument) -> list[Record]:
    """Return all points of the document's knowledge base, without the port."""
    return (await client.scroll(f"kb_{document.kb_id}", limit=1000, with_vectors=True))[0]


async def test_a_point_is_named_after_document_epoch_chunk_and_model(client: LocalQdrant, index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 3, points((1, 0)))

    [point] = await held(client, document)
    assert point.id == str(uuid5(document.document_id, f"3/0/{MODEL.fingerprint}"))
    assert point.payload == {
        "doc_id": str(document.document_id),
        "status": "completed",
        "epoch": 3,
        "page": 1,
        "chunk_index": 0,
    }


async def test_every_field_of_the_payload_is_indexed(client: LocalQdrant, index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    fields = {"doc_id", "status", "epoch", "page", "chunk_index"}
    assert client.indexed == {(f"kb_{document.kb_id}", field) for field in fields}


async def test_indexes_that_a_dead_maker_left_out_are_made_later(client: LocalQdrant) -> None:
    document = a_document()
    await QdrantIndex(client).upsert(document, MODEL, 1, points((1, 0)))
    client.indexed.clear()  # as if it had crashed right after creating the collection
    await QdrantIndex(client).upsert(document, MODEL, 1, points((1, 0)))
    assert len(client.indexed) == 5


async def test_archived_is_written_as_the_specification_says(client: LocalQdrant, index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0), (0, 1)))
    await index.set_visible(document, is_visible=False)
    assert [(point.payload or {})["status"] for point in await held(client, document)] == ["archived"] * 2


async def test_two_models_live_side_by_side(index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0), (0, 1)))
    await index.upsert(document, OTHER_MODEL, 1, points((0, 0, 1)))

    first = await index.nearest(NO_WORK, MODEL, [document.kb_id], (0, 1), limit=10)
    second = await index.nearest(NO_WORK, OTHER_MODEL, [document.kb_id], (0, 0, 1), limit=10)

    assert [found.chunk_index for found in first] == [1, 0]
    assert [found.chunk_index for found in second] == [0]
    assert await index.count(document) == 3


async def test_what_is_said_of_a_document_is_said_for_all_its_models(index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    await index.upsert(document, OTHER_MODEL, 1, points((0, 0, 1)))

    await index.set_visible(document, is_visible=False)
    assert await index.nearest(NO_WORK, MODEL, [document.kb_id], (1, 0), limit=10) == []
    assert await index.nearest(NO_WORK, OTHER_MODEL, [document.kb_id], (0, 0, 1), limit=10) == []
    await index.delete_document(document)
    assert await index.count(document) == 0


async def test_a_model_without_vectors_finds_nothing(index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    assert await index.nearest(NO_WORK, OTHER_MODEL, [document.kb_id], (1, 0, 0), limit=10) == []


async def test_many_that_put_first_at_once_make_one_collection(client: LocalQdrant) -> None:
    kb_id = uuid4()
    documents = [a_document(kb_id) for _ in range(5)]
    puts = [QdrantIndex(client).upsert(document, MODEL, 1, points((1, 0))) for document in documents]
    await asyncio.gather(*puts)
    assert [await QdrantIndex(client).count(document) for document in documents] == [1] * 5


async def test_a_deleted_collection_is_created_again(client: LocalQdrant, index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    await client.delete_collection(f"kb_{document.kb_id}")
    await index.upsert(document, MODEL, 1, points((1, 0)))
    assert await index.count(document) == 1


async def test_more_points_than_go_into_one_call_are_all_there(index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points(*[(1.0, float(number)) for number in range(250)]))
    assert await index.count(document) == 250


async def test_a_vector_of_the_wrong_size_is_an_error_and_no_empty_answer(index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    with pytest.raises(IndexRejected):
        await index.nearest(NO_WORK, MODEL, [document.kb_id], (1, 0, 0), limit=10)
    with pytest.raises(IndexRejected):
        await index.upsert(document, MODEL, 1, points((1, 0, 0)))


async def test_a_knowledge_base_that_is_named_twice_is_asked_once(index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    assert len(await index.nearest(NO_WORK, MODEL, [document.kb_id] * 2, (1, 0), limit=10)) == 1


async def test_a_delete_that_leaves_points_is_repeated(client: LocalQdrant) -> None:
    index, document = QdrantIndex(NonDeletingQdrant(lies=DELETE_ATTEMPTS - 1)), a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    await index.delete_document(document)
    assert await index.count(document) == 0
    await index.close()


async def test_a_delete_that_keeps_reporting_false_success_is_not_believed() -> None:
    index, document = QdrantIndex(NonDeletingQdrant(lies=DELETE_ATTEMPTS)), a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    with pytest.raises(PointsStillPresent):
        await index.delete_document(document)
    await index.close()


async def test_a_change_that_was_only_heard_is_not_made() -> None:
    index, document = QdrantIndex(AcknowledgingQdrant()), a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    with pytest.raises(Unavailable):
        await index.set_visible(document, is_visible=False)
    await index.close()


async def test_the_check_names_version_and_number_of_knowledge_bases(index: ExternalIndex) -> None:
    await index.upsert(a_document(), MODEL, 1, points((1, 0)))
    said = await index.check()
    assert said.startswith("Qdrant 1.")
    assert said.endswith(", 1 knowledge bases")
