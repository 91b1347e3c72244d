"""The contract of `VectorSearch`, and how every engine follows the moves of documents."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from muniment.storage.db.work import Database
from tests.contracts.vector_engines import ENGINES, VectorIndexHarness
from tests.search.passages_fixture import PassagesFixture
from tests.support.seed import Seed

DOG, HOUND, SEA = {"dog": 1.0}, {"dog": 1.0, "sea": 0.2}, {"sea": 1.0}


@pytest.fixture(params=sorted(ENGINES))
async def shelves(request: pytest.FixtureRequest, database: Database, seed: Seed) -> AsyncIterator[VectorIndexHarness]:
    owner = seed.person()
    async with ENGINES[request.param](database) as index:
        yield VectorIndexHarness(index, database, PassagesFixture(seed), seed, owner, seed.knowledge_base(owner))


async def test_passages_come_nearest_first_with_their_cosine_distance(shelves: VectorIndexHarness) -> None:
    first, second = await shelves.add(SEA, DOG), await shelves.add(HOUND)

    found = await shelves.nearest(DOG)

    assert [(one.document_id, one.chunk_index) for one in found] == [
        (first.document_id, 1),
        (second.document_id, 0),
        (first.document_id, 0),
    ]
    assert [one.distance for one in found] == [
        pytest.approx(0, abs=1e-3),
        pytest.approx(1 - 1 / 1.04**0.5, abs=1e-3),
        pytest.approx(1, abs=1e-3),
    ]


async def test_a_copy_tells_its_epoch_and_what_is_no_copy_has_none(shelves: VectorIndexHarness) -> None:
    await shelves.add(DOG)
    assert [one.epoch for one in await shelves.nearest(DOG)] == [1 if shelves.external else None]


async def test_the_limit_is_kept_and_skip_goes_on_behind_it(shelves: VectorIndexHarness) -> None:
    for number in range(7):
        await shelves.add({"dog": 1.0, "sea": number / 10})
    everything = await shelves.found(DOG)
    assert len(everything) == 7

    assert await shelves.found(DOG, limit=3) == everything[:3]
    assert await shelves.found(DOG, limit=3, skip=3) == everything[3:6]
    assert await shelves.found(DOG, limit=3, skip=6) == everything[6:]
    assert await shelves.found(DOG, limit=3, skip=7) == []


async def test_only_the_named_knowledge_bases_are_asked(shelves: VectorIndexHarness) -> None:
    other_kb = shelves.seed.knowledge_base(shelves.owner, "Other")
    here, there = await shelves.add(DOG), await shelves.add(HOUND, kb_id=other_kb)

    assert await shelves.found(DOG) == [(here.document_id, 0)]
    assert await shelves.found(DOG, kb_ids=[other_kb]) == [(there.document_id, 0)]
    both = await shelves.found(DOG, kb_ids=[other_kb, shelves.kb_id])
    assert both == [(here.document_id, 0), (there.document_id, 0)]


async def test_a_knowledge_base_without_passages_is_empty(shelves: VectorIndexHarness) -> None:
    assert await shelves.found(DOG) == []
    assert await shelves.found(DOG, kb_ids=[uuid4()]) == []


async def test_what_is_hidden_is_not_proposed_until_it_is_shown_again(shelves: VectorIndexHarness) -> None:
    hidden, shown = await shelves.add(DOG, DOG), await shelves.add(SEA)

    await shelves.archive(hidden)
    await shelves.archive(hidden)
    assert await shelves.found(DOG) == [(shown.document_id, 0)]

    await shelves.restore(hidden)
    assert len(await shelves.found(DOG)) == 3


async def test_putting_twice_changes_nothing(shelves: VectorIndexHarness) -> None:
    document = await shelves.add(DOG, SEA)
    await shelves.put(document)

    assert await shelves.found(DOG) == [(document.document_id, 0), (document.document_id, 1)]


async def test_what_is_removed_is_gone_and_others_stay(shelves: VectorIndexHarness) -> None:
    gone, stays = await shelves.add(DOG, DOG), await shelves.add(SEA)

    await shelves.purge(gone)
    await shelves.purge(gone)

    assert await shelves.found(DOG) == [(stays.document_id, 0)]


async def test_a_working_engine_says_a_few_words(shelves: VectorIndexHarness) -> None:
    assert await shelves.index.check()
    await shelves.index.close()
