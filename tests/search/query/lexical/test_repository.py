"""Which passages contain the words, and in which order."""

import math
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from muniment.search.analysis.analyzer import analyze, count_positions
from muniment.search.indexing.lexical_rebuild import LexicalRebuild
from muniment.search.query.filters import FileFormat, SearchFilters
from muniment.search.query.lexical.candidates import CandidateLimits
from muniment.search.query.lexical.repository import LexicalRanking, LexicalRepository
from muniment.search.query.lexical.sql import K1, B
from muniment.search.query.parser import parse_query
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import PassageKey, SearchScope
from muniment.storage.db.work import Database
from tests.search.passages_fixture import MODEL, Passage, PassagesFixture
from tests.support.seed import Person, Seed

SCAN = CandidateLimits()
LOOK_UP = CandidateLimits(scanned=2, max_share=9.0)
"""A sample of two passages: nearly everything is found by the index."""
SAMPLE = CandidateLimits(scanned=2, max_share=0.0)
"""Only what is in the sample, or has all terms."""


class LexicalFixture:
    """A knowledge base and a caller who searches it by keywords."""

    def __init__(self, database: Database, passages_env: PassagesFixture, seed: Seed) -> None:
        self.database, self.passages_env, self.seed = database, passages_env, seed
        self.owner: Person = seed.person()
        self.kb_id = seed.knowledge_base(self.owner)

    def add(self, *texts: str, **columns: Any) -> UUID:
        return self.passages_env.add(self.kb_id, self.owner, [Passage(text) for text in texts], **columns)

    async def rank(
        self, typed: str, limits: CandidateLimits = SCAN, limit: int = 10, min_share: float = 0.0, **scope: Any
    ) -> LexicalRanking:
        async with self.database.work(self.owner.principal) as work:
            queries = await SearchRepository(work.session).build_language_queries(
                MODEL, [self.kb_id], parse_query(typed), scope.get("filters", SearchFilters())
            )
            repository = LexicalRepository(work.session, limits=limits, min_share=min_share)
            return await repository.rank(SearchScope(MODEL, [self.kb_id], queries, **scope), limit=limit)

    async def found(self, typed: str, limits: CandidateLimits = SCAN, **scope: Any) -> Sequence[PassageKey]:
        return [hit.key for hit in (await self.rank(typed, limits, **scope)).hits]


@pytest.fixture
def lexical_env(database: Database, passages_env: PassagesFixture, seed: Seed) -> LexicalFixture:
    return LexicalFixture(database, passages_env, seed)


async def test_scores_are_those_of_bm25(lexical_env: LexicalFixture) -> None:
    texts = ["rent " * n + "garden " * (70 - n) + "tree" * (n % 3) for n in (0, 1, 2, 3, 7, 20, 63)]
    document_id = lexical_env.add(*texts, "A garden", "The chimney of the house")
    lengths = [count_positions(analyze(text, "english")) for text in (*texts, "A garden", "The chimney of the house")]
    average, weight = sum(lengths) / len(lengths), math.log(1 + (len(lengths) - 6 + 0.5) / (6 + 0.5))
    expected = {}
    for index, count in enumerate((0, 1, 2, 3, 7, 20, 63)):
        if count:
            norm = K1 * (1 - B + B * lengths[index] / average)
            expected[document_id, index] = weight * count / (count + norm)
    for limits in (SCAN, LOOK_UP):
        hits = (await lexical_env.rank("rent", limits)).hits
        assert [hit.key for hit in hits] == sorted(expected, key=lambda key: -expected[key])
        assert [hit.score for hit in hits] == pytest.approx([expected[hit.key] for hit in hits])


@pytest.mark.parametrize("limits", [SCAN, LOOK_UP])
async def test_a_rare_word_tells_more_than_common_ones(lexical_env: LexicalFixture, limits: CandidateLimits) -> None:
    lexical_env.add(*["Rent and costs of the flat"] * 8)
    rare = lexical_env.add("Chimney of the flat")
    found = await lexical_env.found("rent costs chimney", limits)
    assert found[0] == (rare, 0)
    assert len(found) == 9


@pytest.mark.parametrize("limits", [SCAN, LOOK_UP, SAMPLE])
async def test_phrases_and_excluded_words_and_languages_are_kept(
    lexical_env: LexicalFixture, limits: CandidateLimits
) -> None:
    right = lexical_env.add("The rent of the flats", "Flat rents, and a garden")
    german = lexical_env.add("Die Mieten", language="german")
    assert set(await lexical_env.found("rents -garden", SCAN if limits is SAMPLE else limits)) == {(right, 0)}
    assert await lexical_env.found('"flat rents"', limits) == [(right, 1)]
    assert await lexical_env.found("Miete", SCAN if limits is SAMPLE else limits) == [(german, 0)]


async def test_among_frequent_words_what_has_all_of_them_is_ranked_beside_a_sample(lexical_env: LexicalFixture) -> None:
    for _ in range(6):
        lexical_env.add(*["A common word"] * 3)
    whole = lexical_env.add("Another common word", "A common chimney word")
    for _ in range(6):
        lexical_env.add(*["A common word"] * 3)
    found = await lexical_env.found("common chimney", SAMPLE)
    assert found[0] == (whole, 1)
    assert 2 <= len(found) <= 3


@pytest.mark.parametrize("limits", [SCAN, LOOK_UP])
async def test_types_and_filters_limit_the_scope(lexical_env: LexicalFixture, limits: CandidateLimits) -> None:
    contract = lexical_env.add("The rent", document_type="contract")
    mail = lexical_env.add("The rent", media_type="message/rfc822")
    both = {(contract, 0), (mail, 0)}
    assert set(await lexical_env.found("rent", limits)) == both
    assert await lexical_env.found("rent", limits, document_types=["contract"]) == [(contract, 0)]
    assert await lexical_env.found("rent", limits, filters=SearchFilters(formats=[FileFormat.MAIL])) == [(mail, 0)]
    stranger = lexical_env.seed.person()
    assert await lexical_env.found("rent", limits, filters=SearchFilters(uploaded_by=[stranger.id])) == []


@pytest.mark.parametrize("limits", [SCAN, LOOK_UP])
async def test_the_old_form_answers_until_it_is_rebuilt(lexical_env: LexicalFixture, limits: CandidateLimits) -> None:
    old = lexical_env.add("The rent of the flats", "A garden")
    new = lexical_env.add("The rent", "A chimney")
    lexical_env.passages_env.old_form(old)
    assert set(await lexical_env.found("flat rents", limits)) == {(old, 0), (new, 0)}
    assert await lexical_env.found("garden -rent", limits) == [(old, 1)]
    await LexicalRebuild(lexical_env.database).run()
    assert lexical_env.seed.one("SELECT count(*) FROM artifact_lexicons") == 2
    assert lexical_env.seed.one("SELECT count(*) FROM artifact_terms") == 4
    lexical_env.seed.execute("UPDATE artifact_chunks SET tsv = NULL, language = NULL")
    assert set(await lexical_env.found("flat rents", limits)) == {(old, 0), (new, 0)}


async def test_an_older_version_is_rebuilt_and_a_newer_one_is_left_alone(lexical_env: LexicalFixture) -> None:
    older, newer = lexical_env.add("The rent"), lexical_env.add("The garden")
    change = """UPDATE artifact_lexicons SET analysis_version = %s, vocabulary = ' changed '
                 WHERE artifact_text_id = (SELECT artifact_text_id FROM documents WHERE id = %s)"""
    lexical_env.seed.execute(change, 0, older)
    lexical_env.seed.execute(change, 1_000, newer)
    await LexicalRebuild(lexical_env.database).run()
    stored = lexical_env.seed.rows("SELECT vocabulary FROM artifact_lexicons ORDER BY analysis_version")
    assert stored == [("",), (" changed ",)]


async def test_a_hit_needs_its_share_of_what_the_query_asks_for(lexical_env: LexicalFixture) -> None:
    lexical_env.add(*["The rent of the flat"] * 8)
    lexical_env.add("A chimney")
    hits = (await lexical_env.rank("rent chimney")).hits
    assert {round(hit.matched_share, 1) for hit in hits} == {0.1, 0.9}
    assert len((await lexical_env.rank("rent chimney", min_share=0.5)).hits) == 1
    assert (await lexical_env.rank("rent chimney dragon sword", min_share=0.7)).hits == []


async def test_what_no_passage_has_is_named(lexical_env: LexicalFixture) -> None:
    lexical_env.add("The rent")
    assert len((await lexical_env.rank("rent dragon")).missing) == 1
    assert len((await lexical_env.rank("dragon")).missing) == 1
    assert (await lexical_env.rank("rent")).missing == []


async def test_purged_text_leaves_no_terms_and_no_words(lexical_env: LexicalFixture) -> None:
    lexical_env.add("The rent of the chimney")
    lexical_env.seed.execute("DELETE FROM documents")
    lexical_env.seed.execute("DELETE FROM artifacts_full_text")
    assert lexical_env.seed.one("SELECT count(*) FROM artifact_terms") == 0
    assert lexical_env.seed.one("SELECT count(*) FROM artifact_lexicons") == 0
