"""Which way is gone to the passages that hold the words."""

from uuid import UUID

import pytest
from sqlalchemy import event

from muniment.search.query.lexical.repository import WordRepository
from muniment.search.query.lexical.strategy import Limits, Sample, Way, ways
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import Key, Scope, parse
from muniment.storage.db.work import Database
from tests.search.passages_fixture import MODEL, Library, Passage
from tests.support.seed import Person, Seed

MILLION = 1_000_000
BY_SCOPE_AND_SAMPLE = [
    # A sentence of which every passage holds some words, hardly any all of them.
    (15_000, Sample(0, 0.9, MILLION), [Way.FEW]),
    (50_000, Sample(0, 0.9, MILLION), [Way.MANY]),
    # A word of every third passage.
    (15_000, Sample(0.3, 0.3, MILLION), [Way.FREQUENT, Way.FEW]),
    (100_000, Sample(0.3, 0.3, MILLION), [Way.FREQUENT, Way.MANY]),
    (MILLION, Sample(0.3, 0.3, MILLION), [Way.FREQUENT, Way.MANY]),
    # A word of nearly every passage, in everything: PostgreSQL looks through as well, from the beginning.
    (MILLION, Sample(0.95, 0.95, MILLION), [Way.MANY]),
    # One that is not quite frequent enough to be sure.
    (100_000, Sample(0.15, 0.15, MILLION), [Way.MANY]),
    # Rare ones.
    (15_000, Sample(0, 0.001, MILLION), [Way.MANY]),
    (15_000, Sample(0, 0, MILLION), [Way.MANY]),
    # The scope is all that there is, and the index lists no more than what is wanted.
    (15_000, Sample(0, 0.05, 15_000), [Way.MANY]),
    (15_000, Sample(0.3, 0.3, 15_000), [Way.MANY]),
    # Never counted by PostgreSQL.
    (15_000, Sample(0.05, 0.05, -1), [Way.MANY]),
]
FEW_RANKED = Limits(small_scope=0, medium_scope=0, most_ranked=4)
MARKS = {"looked_through": Way.FREQUENT, "whole AS MATERIALIZED": Way.MANY, "found AS MATERIALIZED": Way.FEW}


class Room:
    """A knowledge base, and who asks in it by words."""

    def __init__(self, database: Database, library: Library, seed: Seed) -> None:
        self.database, self.library = database, library
        self.owner: Person = seed.person()
        self.kb_id, self.other_kb_id = seed.knowledge_base(self.owner), seed.knowledge_base(self.owner)
        seed.execute(f"UPDATE pg_class SET reltuples = {MILLION} WHERE oid = 'artifact_chunks'::regclass")
        self.gone: list[Way] = []
        event.listen(database.app_engine.sync_engine, "before_cursor_execute", self._note)

    def _note(self, _: object, __: object, statement: str, *___: object) -> None:
        self.gone += [way for mark, way in MARKS.items() if mark in statement]

    def document(self, *texts: str, kb_id: UUID | None = None) -> UUID:
        return self.library.add(kb_id or self.kb_id, self.owner, [Passage(text) for text in texts])

    async def found(self, typed: str, limits: Limits) -> set[Key]:
        kb_ids = [self.kb_id, self.other_kb_id]
        async with self.database.work(self.owner.principal) as work:
            queries = await SearchRepository(work.session).list_queries(MODEL, kb_ids, parse(typed))
            words = WordRepository(work.session, limits=limits)
            return set(await words.match(Scope(MODEL, kb_ids, queries), limit=10))


@pytest.fixture
def room(database: Database, library: Library, seed: Seed) -> Room:
    return Room(database, library, seed)


@pytest.mark.parametrize(("chunks", "sample", "expected"), BY_SCOPE_AND_SAMPLE)
def test_the_scope_and_a_sample_decide(chunks: int, sample: Sample, expected: list[Way]) -> None:
    assert ways(chunks, sample, Limits()) == expected


async def test_a_frequent_word_is_looked_for_in_every_knowledge_base_until_enough_hold_it(room: Room) -> None:
    one = room.document(*["The rent"] * 8)
    other = room.document(*["The rent"] * 8, kb_id=room.other_kb_id)
    assert await room.found("rent", FEW_RANKED) == {(one, 0), (one, 1), (other, 0), (other, 1)}
    assert room.gone == [Way.FREQUENT]


async def test_where_the_sample_was_wrong_another_way_finds_the_rest(room: Room) -> None:
    sampled = room.document("The rent", "A garden", "The rent")
    room.document(*["A garden"] * 3, kb_id=room.other_kb_id)
    assert await room.found("rent", Limits(small_scope=0, medium_scope=0, most_ranked=5)) == {
        (sampled, 0),
        (sampled, 2),
    }
    assert room.gone == [Way.FREQUENT, Way.MANY]


async def test_documents_of_one_type_are_no_sample(room: Room) -> None:
    document_id = room.document(*["The rent"] * 8)
    async with room.database.work(room.owner.principal) as work:
        queries = await SearchRepository(work.session).list_queries(MODEL, [room.kb_id], parse("rent"))
        scope = Scope(MODEL, [room.kb_id], queries, ["other"])
        found = await WordRepository(work.session, limits=FEW_RANKED).match(scope, limit=10)
    assert {found_id for found_id, _ in found} == {document_id}
    assert room.gone == [Way.MANY]


async def test_a_rare_word_is_looked_up_in_the_index_at_once(room: Room) -> None:
    room.document(*["A garden"] * 60)
    chimney = room.document(*["A garden"] * 5, "The chimney")
    assert await room.found("chimney", Limits(small_scope=0)) == {(chimney, 5)}
    assert room.gone == [Way.MANY]
