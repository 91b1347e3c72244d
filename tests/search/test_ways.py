"""Which way is gone to the passages that hold the words."""

from uuid import UUID

import pytest
from sqlalchemy import event

from muniment.search.query_text import parse
from muniment.search.repository import SearchRepository
from muniment.search.scope import Key, Scope
from muniment.search.ways import Limits, Shares, Way, ways
from muniment.search.word_repository import WordRepository
from muniment.storage.db.work import Database
from tests.search.library import MODEL, Library, Passage
from tests.seed import Person, Seed

BY_SCOPE_AND_SHARES = [
    (20_000, Shares(0, 0.5), [Way.FEW]),
    (20_000, Shares(0, 0.01), [Way.MANY]),
    (20_000, Shares(0.3, 0.3), [Way.FREQUENT, Way.FEW]),
    (100_000, Shares(0, 0.5), [Way.MANY]),
    (100_000, Shares(0.24, 0.5), [Way.MANY]),
    (100_000, Shares(0.25, 0.5), [Way.FREQUENT, Way.MANY]),
]
FEW_RANKED = Limits(small_scope=0, medium_scope=0, most_ranked=3)
MARKS = {"looked_through": Way.FREQUENT, "whole AS MATERIALIZED": Way.MANY, "found AS MATERIALIZED": Way.FEW}


class Room:
    """A knowledge base, and who asks in it by words."""

    def __init__(self, database: Database, library: Library, seed: Seed) -> None:
        self.database, self.library = database, library
        self.owner: Person = seed.person()
        self.kb_id = seed.knowledge_base(self.owner)
        self.gone: list[Way] = []
        event.listen(database.app_engine.sync_engine, "before_cursor_execute", self._note)

    def _note(self, _: object, __: object, statement: str, *___: object) -> None:
        self.gone += [way for mark, way in MARKS.items() if mark in statement]

    def document(self, *texts: str) -> UUID:
        return self.library.add(self.kb_id, self.owner, [Passage(text) for text in texts])

    async def found(self, typed: str, limits: Limits) -> set[Key]:
        async with self.database.work(self.owner.principal) as work:
            queries = await SearchRepository(work.session).list_queries(MODEL, [self.kb_id], parse(typed))
            words = WordRepository(work.session, limits=limits)
            return set(await words.match(Scope(MODEL, [self.kb_id], queries), limit=10))


@pytest.fixture
def room(database: Database, library: Library, seed: Seed) -> Room:
    return Room(database, library, seed)


@pytest.mark.parametrize(("chunks", "shares", "expected"), BY_SCOPE_AND_SHARES)
def test_the_scope_and_a_sample_decide(chunks: int, shares: Shares, expected: list[Way]) -> None:
    assert ways(chunks, shares, Limits()) == expected


async def test_a_frequent_word_is_looked_for_until_enough_hold_it(room: Room) -> None:
    document_id = room.document(*["The rent"] * 8)
    found = await room.found("rent", FEW_RANKED)
    assert (len(found), {found_id for found_id, _ in found}) == (3, {document_id})
    assert room.gone == [Way.FREQUENT]


async def test_where_the_sample_was_wrong_the_index_finds_the_rest(room: Room) -> None:
    sampled = room.document("The rent", "A garden", "A garden", "The rent")
    room.document(*["A garden"] * 7)
    assert await room.found("rent", FEW_RANKED) == {(sampled, 0), (sampled, 3)}
    assert room.gone == [Way.FREQUENT, Way.MANY]


async def test_a_rare_word_is_looked_up_in_the_index_at_once(room: Room) -> None:
    room.document(*["A garden"] * 60)
    chimney = room.document(*["A garden"] * 5, "The chimney")
    assert await room.found("chimney", Limits(small_scope=0)) == {(chimney, 5)}
    assert room.gone == [Way.MANY]
