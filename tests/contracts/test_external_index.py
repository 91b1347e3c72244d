"""Contract of an external index: epochs, hiding, deletion, pages across knowledge bases."""

from collections.abc import AsyncIterator
from dataclasses import astuple
from uuid import UUID, uuid4

import pytest

from muniment.storage.db.work import Database
from muniment.storage.vectors.port import Candidate, ExternalIndex
from muniment.storage.vectors.qdrant import index as qdrant
from tests.contracts.vector_engines import EXTERNAL_ENGINES
from tests.support.qdrant import MODEL, NO_WORK, OTHER_MODEL, a_document, points


@pytest.fixture(params=EXTERNAL_ENGINES)
async def index(request: pytest.FixtureRequest, database: Database) -> AsyncIterator[ExternalIndex]:
    async with EXTERNAL_ENGINES[request.param](database) as index:
        yield index


async def found(index: ExternalIndex, *kb_ids: UUID, limit: int = 10, skip: int = 0) -> list[Candidate]:
    """Return the candidates near the first axis."""
    return list(await index.nearest(NO_WORK, MODEL, kb_ids, (1, 0), limit=limit, offset=skip))


async def test_nearest_first_with_the_cosine_distance(index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 7, points((0, 1), (2, 0), (1, 1)))
    candidates = await found(index, document.kb_id)
    assert [(item.document_id, item.chunk_index, item.epoch) for item in candidates] == [
        (document.document_id, 1, 7),
        (document.document_id, 2, 7),
        (document.document_id, 0, 7),
    ]
    assert [item.distance for item in candidates] == pytest.approx([0, 1 - 0.5**0.5, 1], abs=1e-3)


async def test_putting_twice_changes_nothing(index: ExternalIndex) -> None:
    document = a_document()
    for _ in range(2):
        await index.upsert(document, MODEL, 1, points((1, 0), (0, 1)))
    assert await index.count(document) == 2


async def test_epochs_are_held_side_by_side_until_the_older_are_removed(index: ExternalIndex) -> None:
    document = a_document()
    for epoch in (1, 2, 3):
        await index.upsert(document, MODEL, epoch, points((1, 0)))
    assert await index.count(document) == 3
    await index.delete_document(document, before_epoch=3)
    assert [item.epoch for item in await found(index, document.kb_id)] == [3]


async def test_removing_leaves_other_documents_alone(index: ExternalIndex) -> None:
    document = a_document()
    neighbour = a_document(document.kb_id)
    for one in (document, neighbour):
        await index.upsert(one, MODEL, 1, points((1, 0)))
    await index.delete_document(document)
    assert (await index.count(document), await index.count(neighbour)) == (0, 1)


async def test_what_is_hidden_is_not_proposed_and_still_held(index: ExternalIndex) -> None:
    document = a_document()
    neighbour = a_document(document.kb_id)
    for one in (document, neighbour):
        await index.upsert(one, MODEL, 1, points((1, 0), (0, 1)))
    await index.set_visible(document, is_visible=False)
    assert {item.document_id for item in await found(index, document.kb_id)} == {neighbour.document_id}
    assert await index.count(document) == 2
    await index.set_visible(document, is_visible=True)
    assert len(await found(index, document.kb_id)) == 4


async def test_what_is_not_there_is_no_error(index: ExternalIndex) -> None:
    document = a_document()
    await index.delete_document(document)
    await index.delete_document(document, before_epoch=5)
    await index.set_visible(document, is_visible=False)
    await index.upsert(document, MODEL, 1, [])
    assert await index.count(document) == 0
    assert await found(index, document.kb_id, uuid4()) == []
    assert await found(index) == []


async def test_pages_over_several_knowledge_bases_show_each_passage_once_and_in_order(index: ExternalIndex) -> None:
    documents = [a_document() for _ in range(3)]
    for number, document in enumerate(documents):
        await index.upsert(document, MODEL, 1, points(*[(1, 0.1 * (3 * step + number)) for step in range(5)]))
    kb_ids = [document.kb_id for document in documents]

    pages = [await found(index, *kb_ids, limit=4, skip=skip) for skip in range(0, 20, 4)]

    assert [len(page) for page in pages] == [4, 4, 4, 3, 0]
    shown = [item for page in pages for item in page]
    assert shown == await found(index, *kb_ids, limit=100)
    assert [item.distance for item in shown] == sorted(item.distance for item in shown)
    assert len({(item.document_id, item.chunk_index) for item in shown}) == 15


async def test_only_the_knowledge_bases_that_are_named_are_searched(index: ExternalIndex) -> None:
    document, other = a_document(), a_document()
    for one in (document, other):
        await index.upsert(one, MODEL, 1, points((1, 0)))
    assert {item.document_id for item in await found(index, other.kb_id)} == {other.document_id}


async def held(index: ExternalIndex, kb_id: UUID, *document_ids: UUID) -> set[tuple[UUID, int, int, bool, str | None]]:
    found = index.iter_points(kb_id, [MODEL], document_ids=document_ids or None)
    return {astuple(item) async for item in found}


async def test_every_copy_is_listed_with_what_is_said_of_it(index: ExternalIndex) -> None:
    kb_id = uuid4()
    shown, hidden = a_document(kb_id), a_document(kb_id)
    await index.upsert(shown, MODEL, 3, points((1, 0), (0, 1)))
    await index.upsert(hidden, MODEL, 1, points((1, 0)))
    await index.upsert(a_document(), MODEL, 1, points((1, 0)))
    await index.set_visible(hidden, is_visible=False)
    of_shown = {(shown.document_id, 3, number, True, MODEL.fingerprint) for number in (0, 1)}
    of_hidden = (hidden.document_id, 1, 0, False, MODEL.fingerprint)
    assert await held(index, kb_id) == {*of_shown, of_hidden}
    assert await held(index, kb_id, shown.document_id) == of_shown
    assert await held(index, uuid4()) == set()


async def test_a_copy_of_a_model_that_was_not_asked_about_is_listed_without_its_name(index: ExternalIndex) -> None:
    document = a_document()
    await index.upsert(document, MODEL, 1, points((1, 0)))
    assert [item.fingerprint async for item in index.iter_points(document.kb_id, [OTHER_MODEL])] == [None]


async def test_more_copies_than_one_page_holds_are_all_listed(
    index: ExternalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant, "SCROLL_PAGE_SIZE", 2)
    document = a_document()
    await index.upsert(document, MODEL, 1, points(*[(1, 0)] * 5))
    assert sorted([item.chunk_index async for item in index.iter_points(document.kb_id)]) == [0, 1, 2, 3, 4]


async def test_only_the_epochs_that_are_named_go(index: ExternalIndex) -> None:
    document, another = a_document(), a_document()
    for epoch in (1, 2, 3, 4):
        await index.upsert(document, MODEL, epoch, points((1, 0)))
    await index.upsert(another, MODEL, 2, points((1, 0)))
    await index.delete_epochs(document, [2, 4])
    await index.delete_epochs(a_document(), [1])
    assert sorted([item.epoch async for item in index.iter_points(document.kb_id)]) == [1, 3]
    assert await index.count(another) == 1


async def test_a_knowledge_base_goes_whole_and_can_be_filled_again(index: ExternalIndex) -> None:
    document, another = a_document(), a_document()
    for each in (document, another):
        await index.upsert(each, MODEL, 1, points((1, 0)))
    assert {document.kb_id, another.kb_id} <= set(await index.list_kb_ids())
    for _ in range(2):
        await index.delete_collection(document.kb_id)
    assert document.kb_id not in await index.list_kb_ids()
    assert (await index.count(document), await index.count(another)) == (0, 1)
    await index.upsert(document, MODEL, 1, points((1, 0)))
    assert await index.count(document) == 1
