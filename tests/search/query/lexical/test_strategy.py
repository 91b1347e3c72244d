"""Choice of the match strategy for keyword candidates."""

from uuid import UUID

import pytest
from sqlalchemy import event

from muniment.search.query.lexical.repository import LexicalRepository
from muniment.search.query.lexical.strategy import MatchStrategy, ScanLimits, SelectivitySample, choose_strategies
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import PassageKey, SearchScope, parse_query
from muniment.storage.db.work import Database
from tests.search.passages_fixture import MODEL, Passage, PassagesFixture
from tests.support.seed import Person, Seed

MILLION = 1_000_000
BY_SCOPE_AND_SAMPLE = [
    # A sentence: every passage contains some of its words, hardly any all of them.
    (15_000, SelectivitySample(0, 0.9, MILLION), [MatchStrategy.SCAN_SCOPE]),
    (50_000, SelectivitySample(0, 0.9, MILLION), [MatchStrategy.USE_INDEX]),
    # A word in every third passage.
    (15_000, SelectivitySample(0.3, 0.3, MILLION), [MatchStrategy.SCAN_UNTIL_ENOUGH, MatchStrategy.SCAN_SCOPE]),
    (100_000, SelectivitySample(0.3, 0.3, MILLION), [MatchStrategy.SCAN_UNTIL_ENOUGH, MatchStrategy.USE_INDEX]),
    (MILLION, SelectivitySample(0.3, 0.3, MILLION), [MatchStrategy.SCAN_UNTIL_ENOUGH, MatchStrategy.USE_INDEX]),
    # A word in nearly every passage of everything: PostgreSQL would scan from the beginning, too.
    (MILLION, SelectivitySample(0.95, 0.95, MILLION), [MatchStrategy.USE_INDEX]),
    # A word that may not be frequent enough.
    (100_000, SelectivitySample(0.15, 0.15, MILLION), [MatchStrategy.USE_INDEX]),
    # Rare words.
    (15_000, SelectivitySample(0, 0.001, MILLION), [MatchStrategy.USE_INDEX]),
    (15_000, SelectivitySample(0, 0, MILLION), [MatchStrategy.USE_INDEX]),
    # The scope is the whole table, and the index lists no more than needed.
    (15_000, SelectivitySample(0, 0.05, 15_000), [MatchStrategy.USE_INDEX]),
    (15_000, SelectivitySample(0.3, 0.3, 15_000), [MatchStrategy.USE_INDEX]),
    # Without statistics of PostgreSQL.
    (15_000, SelectivitySample(0.05, 0.05, -1), [MatchStrategy.USE_INDEX]),
]
FEW_RANKED = ScanLimits(small_scope=0, medium_scope=0, max_ranked=4)
MARKS = {
    "looked_through": MatchStrategy.SCAN_UNTIL_ENOUGH,
    "whole AS MATERIALIZED": MatchStrategy.USE_INDEX,
    "found AS MATERIALIZED": MatchStrategy.SCAN_SCOPE,
}


class LexicalSearchFixture:
    """A knowledge base and a caller who searches it by keywords."""

    def __init__(self, database: Database, passages_env: PassagesFixture, seed: Seed) -> None:
        self.database, self.passages_env = database, passages_env
        self.owner: Person = seed.person()
        self.kb_id, self.other_kb_id = seed.knowledge_base(self.owner), seed.knowledge_base(self.owner)
        seed.execute(f"UPDATE pg_class SET reltuples = {MILLION} WHERE oid = 'artifact_chunks'::regclass")
        self.gone: list[MatchStrategy] = []
        event.listen(database.app_engine.sync_engine, "before_cursor_execute", self._note)

    def _note(self, _: object, __: object, statement: str, *___: object) -> None:
        self.gone += [way for mark, way in MARKS.items() if mark in statement]

    def document(self, *texts: str, kb_id: UUID | None = None) -> UUID:
        return self.passages_env.add(kb_id or self.kb_id, self.owner, [Passage(text) for text in texts])

    async def found(self, typed: str, limits: ScanLimits) -> set[PassageKey]:
        kb_ids = [self.kb_id, self.other_kb_id]
        async with self.database.work(self.owner.principal) as work:
            queries = await SearchRepository(work.session).build_language_queries(MODEL, kb_ids, parse_query(typed))
            words = LexicalRepository(work.session, limits=limits)
            return set(await words.match(SearchScope(MODEL, kb_ids, queries), limit=10))


@pytest.fixture
def lexical_env(database: Database, passages_env: PassagesFixture, seed: Seed) -> LexicalSearchFixture:
    return LexicalSearchFixture(database, passages_env, seed)


@pytest.mark.parametrize(("chunks", "sample", "expected"), BY_SCOPE_AND_SAMPLE)
def test_the_scope_and_a_sample_decide(chunks: int, sample: SelectivitySample, expected: list[MatchStrategy]) -> None:
    assert choose_strategies(chunks, sample, ScanLimits()) == expected


async def test_a_frequent_word_is_looked_for_in_every_knowledge_base_until_enough_hold_it(
    lexical_env: LexicalSearchFixture,
) -> None:
    one = lexical_env.document(*["The rent"] * 8)
    other = lexical_env.document(*["The rent"] * 8, kb_id=lexical_env.other_kb_id)
    assert await lexical_env.found("rent", FEW_RANKED) == {(one, 0), (one, 1), (other, 0), (other, 1)}
    assert lexical_env.gone == [MatchStrategy.SCAN_UNTIL_ENOUGH]


async def test_where_the_sample_was_wrong_another_way_finds_the_rest(lexical_env: LexicalSearchFixture) -> None:
    sampled = lexical_env.document("The rent", "A garden", "The rent")
    lexical_env.document(*["A garden"] * 3, kb_id=lexical_env.other_kb_id)
    assert await lexical_env.found("rent", ScanLimits(small_scope=0, medium_scope=0, max_ranked=5)) == {
        (sampled, 0),
        (sampled, 2),
    }
    assert lexical_env.gone == [MatchStrategy.SCAN_UNTIL_ENOUGH, MatchStrategy.USE_INDEX]


async def test_documents_of_one_type_are_no_sample(lexical_env: LexicalSearchFixture) -> None:
    document_id = lexical_env.document(*["The rent"] * 8)
    async with lexical_env.database.work(lexical_env.owner.principal) as work:
        queries = await SearchRepository(work.session).build_language_queries(
            MODEL, [lexical_env.kb_id], parse_query("rent")
        )
        scope = SearchScope(MODEL, [lexical_env.kb_id], queries, ["other"])
        found = await LexicalRepository(work.session, limits=FEW_RANKED).match(scope, limit=10)
    assert {found_id for found_id, _ in found} == {document_id}
    assert lexical_env.gone == [MatchStrategy.USE_INDEX]


async def test_a_rare_word_is_looked_up_in_the_index_at_once(lexical_env: LexicalSearchFixture) -> None:
    lexical_env.document(*["A garden"] * 60)
    chimney = lexical_env.document(*["A garden"] * 5, "The chimney")
    assert await lexical_env.found("chimney", ScanLimits(small_scope=0)) == {(chimney, 5)}
    assert lexical_env.gone == [MatchStrategy.USE_INDEX]
