"""The tables of exact terms and of inflected words, asked of the API: real texts, PostgreSQL and ranking.

All texts are in one knowledge base, so that each query must find its own among those of all others.
"""

from collections.abc import Sequence

from tests.search.analysis.exact_term_queries import EXACT_QUERIES, ExactQuery
from tests.search.analysis.language_queries import LANGUAGE_QUERIES, LanguageQuery
from tests.search.conftest import SearchFixture

_MANY = 50


async def failing(search_env: SearchFixture, cases: Sequence[ExactQuery | LanguageQuery]) -> list[str]:
    """Return what is not found, or found below a text that it should not find."""
    texts = {(case.language, text) for case in cases for text in (case.found, case.not_found)}
    ids = {key: str(search_env.document(key[1], language=key[0])) for key in sorted(texts)}
    failures = []
    for case in cases:
        found = [document for document, _ in await search_env.found(case.query, mode="text", limit=_MANY)]
        right, wrong = ids[case.language, case.found], ids[case.language, case.not_found]
        if right not in found:
            failures.append(f"{case.query}: not found")
        elif wrong in found[: found.index(right)]:
            failures.append(f"{case.query}: below what it should not find")
    return failures


async def test_exact_terms_find_their_texts_among_all_others(search_env: SearchFixture) -> None:
    assert await failing(search_env, EXACT_QUERIES) == []


async def test_inflected_words_find_their_texts_among_all_others(search_env: SearchFixture) -> None:
    assert await failing(search_env, LANGUAGE_QUERIES) == []
