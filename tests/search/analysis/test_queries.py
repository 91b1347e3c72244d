"""Every query of the tables finds its text, and only that, by the terms that indexing and queries agree on."""

import pytest

from muniment.search.analysis.analyzer import analyze, analyze_query
from tests.search.analysis.exact_term_queries import EXACT_QUERIES, ExactQuery
from tests.search.analysis.language_queries import LANGUAGE_QUERIES, LanguageQuery


def matches(query: str, text: str, language: str) -> bool:
    """Return whether the text has an alternative of every term of the query."""
    indexed = {token.term for token in analyze(text, language)}
    asked = analyze_query(query, language)
    return bool(asked) and all(indexed.intersection(term.alternatives) for term in asked)


@pytest.mark.parametrize("case", EXACT_QUERIES, ids=lambda case: f"{case.query} in {case.found[:30]}")
def test_an_exact_term_finds_its_text_and_no_similar_one(case: ExactQuery) -> None:
    assert matches(case.query, case.found, case.language)
    assert not matches(case.query, case.not_found, case.language)


@pytest.mark.parametrize("case", LANGUAGE_QUERIES, ids=lambda case: f"{case.query} in {case.found[:30]}")
def test_another_form_or_script_of_a_word_finds_its_text(case: LanguageQuery) -> None:
    assert matches(case.query, case.found, case.language)
    assert not matches(case.query, case.not_found, case.language)


def test_the_tables_are_as_long_as_promised() -> None:
    assert len(EXACT_QUERIES) >= 60
    assert len(LANGUAGE_QUERIES) >= 40
