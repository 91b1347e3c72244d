"""Which passages hold the words, and in which order."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from muniment.search.query_text import parse
from muniment.search.repository import SearchRepository
from muniment.search.scope import Key, Scope
from muniment.search.ways import Limits
from muniment.search.word_repository import WordRepository
from muniment.storage.db.work import Database
from tests.search.library import MODEL, Library, Passage
from tests.seed import Person, Seed

MOST_RANKED = Limits().most_ranked
WAYS = {
    "small": Limits(),
    "medium": Limits(small_scope=0),
    "large": Limits(small_scope=0, medium_scope=0),
    "hardly looked through": Limits(small_scope=0, medium_scope=0, looked_through=1),
}
pytestmark = pytest.mark.parametrize("limits", WAYS.values(), ids=WAYS)
"""All ways, by the index of the words and past it, must answer the same."""


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
def kb_id(seed: Seed, owner: Person) -> UUID:
    return seed.knowledge_base(owner)


async def found(database: Database, owner: Person, kb_id: UUID, typed: str, limits: Limits) -> Sequence[Key]:
    async with database.work(owner.principal) as work:
        queries = await SearchRepository(work.session).list_queries(MODEL, [kb_id], parse(typed))
        return await WordRepository(work.session, limits=limits).match(Scope(MODEL, [kb_id], queries), limit=10)


async def test_a_rare_word_tells_more_than_common_ones(
    database: Database, library: Library, owner: Person, kb_id: UUID, limits: Limits
) -> None:
    library.add(kb_id, owner, [Passage("Rent and costs of the flat") for _ in range(8)])
    rare = library.add(kb_id, owner, [Passage("Chimney of the flat")])
    answer = await found(database, owner, kb_id, "rent costs chimney", limits)
    assert len(answer) == 9
    assert answer[0] == (rare, 0)


async def test_what_holds_everything_is_ranked_however_many_hold_a_part(
    database: Database, library: Library, seed: Seed, owner: Person, kb_id: UUID, limits: Limits
) -> None:
    seed.execute("DROP INDEX ix_artifact_chunks_hnsw_local")  # not asked here, and slow to fill
    library.crowd(kb_id, owner, documents=5, chunks=MOST_RANKED // 4)
    whole = library.add(kb_id, owner, [Passage("A common chimney")])
    library.crowd(kb_id, owner, documents=5, chunks=MOST_RANKED // 4)
    answer = await found(database, owner, kb_id, "common chimney", limits)
    assert len(answer) == 10
    assert answer[0] == (whole, 0)


async def test_phrases_and_excluded_words_and_languages_are_kept(
    database: Database, library: Library, owner: Person, kb_id: UUID, limits: Limits
) -> None:
    right = library.add(kb_id, owner, [Passage("The rent of the flats"), Passage("Flat rents, and a garden")])
    german = library.add(kb_id, owner, [Passage("Die Mieten")], language="german")
    assert set(await found(database, owner, kb_id, "rents -garden", limits)) == {(right, 0)}
    assert await found(database, owner, kb_id, '"flat rents"', limits) == [(right, 1)]
    assert await found(database, owner, kb_id, "Miete", limits) == [(german, 0)]
