"""Which passages contain the words, and in which order."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from muniment.search.query.lexical import repository
from muniment.search.query.lexical.repository import LexicalRepository
from muniment.search.query.lexical.strategy import MatchStrategy, ScanLimits
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import PassageKey, SearchScope, parse_query
from muniment.storage.db.work import Database
from tests.search.passages_fixture import MODEL, Passage, PassagesFixture
from tests.support.seed import Person, Seed

LIMITS = ScanLimits(small_scope=0)
MOST_RANKED = LIMITS.max_ranked
WAYS = [
    [MatchStrategy.SCAN_SCOPE],
    [MatchStrategy.USE_INDEX],
    [MatchStrategy.SCAN_UNTIL_ENOUGH, MatchStrategy.SCAN_SCOPE],
    [MatchStrategy.SCAN_UNTIL_ENOUGH, MatchStrategy.USE_INDEX],
]


@pytest.fixture(params=WAYS, ids=" then ".join, autouse=True)
def _strategies(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with and without the word index: both must give the same results."""
    monkeypatch.setattr(repository, "choose_strategies", lambda *_: request.param)


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
def kb_id(seed: Seed, owner: Person) -> UUID:
    return seed.knowledge_base(owner)


async def found(database: Database, owner: Person, kb_id: UUID, typed: str) -> Sequence[PassageKey]:
    async with database.work(owner.principal) as work:
        queries = await SearchRepository(work.session).build_language_queries(MODEL, [kb_id], parse_query(typed))
        return await LexicalRepository(work.session, limits=LIMITS).match(
            SearchScope(MODEL, [kb_id], queries), limit=10
        )


async def test_a_rare_word_tells_more_than_common_ones(
    database: Database, passages_env: PassagesFixture, owner: Person, kb_id: UUID
) -> None:
    passages_env.add(kb_id, owner, [Passage("Rent and costs of the flat") for _ in range(8)])
    rare = passages_env.add(kb_id, owner, [Passage("Chimney of the flat")])
    answer = await found(database, owner, kb_id, "rent costs chimney")
    assert len(answer) == 9
    assert answer[0] == (rare, 0)


async def test_what_holds_everything_is_ranked_however_many_hold_a_part(
    database: Database, passages_env: PassagesFixture, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    seed.execute("DROP INDEX ix_artifact_chunks_hnsw_local")  # not queried here, and slow to fill
    passages_env.crowd(kb_id, owner, documents=5, chunks=MOST_RANKED // 4)
    whole = passages_env.add(kb_id, owner, [Passage("A common chimney")])
    passages_env.crowd(kb_id, owner, documents=5, chunks=MOST_RANKED // 4)
    answer = await found(database, owner, kb_id, "common chimney")
    assert len(answer) == 10
    assert answer[0] == (whole, 0)


async def test_phrases_and_excluded_words_and_languages_are_kept(
    database: Database, passages_env: PassagesFixture, owner: Person, kb_id: UUID
) -> None:
    right = passages_env.add(kb_id, owner, [Passage("The rent of the flats"), Passage("Flat rents, and a garden")])
    german = passages_env.add(kb_id, owner, [Passage("Die Mieten")], language="german")
    assert set(await found(database, owner, kb_id, "rents -garden")) == {(right, 0)}
    assert await found(database, owner, kb_id, '"flat rents"') == [(right, 1)]
    assert await found(database, owner, kb_id, "Miete") == [(german, 0)]
