"""Contract of `VectorSearch`, and how every engine follows the moves of documents."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from muniment.storage.db.work import Database
from tests.contracts.vector_engines import ENGINES, VectorIndexHarness
from tests.search.passages_fixture import PassagesFixture
from tests.support.seed import Seed

DOG, HOUND, SEA = {"dog": 1.0}, {"dog": 1.0, "sea": 0.2}, {"sea": 1.0}


@pytest.fixture(params=sorted(ENGINES))
async def vector_index_env(
    request: pytest.FixtureRequest, database: Database, seed: Seed
) -> AsyncIterator[VectorIndexHarness]:
    owner = seed.person()
    async with ENGINES[request.param](database) as index:
        yield VectorIndexHarness(index, database, PassagesFixture(seed), seed, owner, seed.knowledge_base(owner))


async def test_passages_come_nearest_first_with_their_cosine_distance(vector_index_env: VectorIndexHarness) -> None:
    first, second = await vector_index_env.add(SEA, DOG), await vector_index_env.add(HOUND)

    found = await vector_index_env.nearest(DOG)

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


async def test_a_copy_tells_its_epoch_and_what_is_no_copy_has_none(vector_index_env: VectorIndexHarness) -> None:
    await vector_index_env.add(DOG)
    assert [one.epoch for one in await vector_index_env.nearest(DOG)] == [1 if vector_index_env.external else None]


async def test_the_limit_is_kept_and_skip_goes_on_behind_it(vector_index_env: VectorIndexHarness) -> None:
    for number in range(7):
        await vector_index_env.add({"dog": 1.0, "sea": number / 10})
    everything = await vector_index_env.found(DOG)
    assert len(everything) == 7

    assert await vector_index_env.found(DOG, limit=3) == everything[:3]
    assert await vector_index_env.found(DOG, limit=3, skip=3) == everything[3:6]
    assert await vector_index_env.found(DOG, limit=3, skip=6) == everything[6:]
    assert await vector_index_env.found(DOG, limit=3, skip=7) == []


async def test_only_the_named_knowledge_bases_are_asked(vector_index_env: VectorIndexHarness) -> None:
    other_kb = vector_index_env.seed.knowledge_base(vector_index_env.owner, "Other")
    here, there = await vector_index_env.add(DOG), await vector_index_env.add(HOUND, kb_id=other_kb)

    assert await vector_index_env.found(DOG) == [(here.document_id, 0)]
    assert await vector_index_env.found(DOG, kb_ids=[other_kb]) == [(there.document_id, 0)]
    both = await vector_index_env.found(DOG, kb_ids=[other_kb, vector_index_env.kb_id])
    assert both == [(here.document_id, 0), (there.document_id, 0)]


async def test_a_knowledge_base_without_passages_is_empty(vector_index_env: VectorIndexHarness) -> None:
    assert await vector_index_env.found(DOG) == []
    assert await vector_index_env.found(DOG, kb_ids=[uuid4()]) == []


async def test_what_is_hidden_is_not_proposed_until_it_is_shown_again(vector_index_env: VectorIndexHarness) -> None:
    hidden, shown = await vector_index_env.add(DOG, DOG), await vector_index_env.add(SEA)

    await vector_index_env.archive(hidden)
    await vector_index_env.archive(hidden)
    assert await vector_index_env.found(DOG) == [(shown.document_id, 0)]

    await vector_index_env.restore(hidden)
    assert len(await vector_index_env.found(DOG)) == 3


async def test_putting_twice_changes_nothing(vector_index_env: VectorIndexHarness) -> None:
    document = await vector_index_env.add(DOG, SEA)
    await vector_index_env.put(document)

    assert await vector_index_env.found(DOG) == [(document.document_id, 0), (document.document_id, 1)]


async def test_what_is_removed_is_gone_and_others_stay(vector_index_env: VectorIndexHarness) -> None:
    gone, stays = await vector_index_env.add(DOG, DOG), await vector_index_env.add(SEA)

    await vector_index_env.purge(gone)
    await vector_index_env.purge(gone)

    assert await vector_index_env.found(DOG) == [(stays.document_id, 0)]


async def test_a_working_engine_says_a_few_words(vector_index_env: VectorIndexHarness) -> None:
    assert await vector_index_env.index.check()
    await vector_index_env.index.close()
