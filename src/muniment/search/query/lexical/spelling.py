"""Correct one typing error in a word of a query that no passage in scope has."""

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.analysis.analyzer import analyze_query
from muniment.search.lexemes import MAX_CORRECTED_LETTERS, MIN_CORRECTED_LETTERS
from muniment.search.query.lexical.sql import SPELLINGS
from muniment.search.query.lexical.terms import UnitKey
from muniment.search.query.parser import ParsedQuery
from muniment.search.query.request import SearchScope

MAX_CANDIDATES = 500


class SpellingRepository:
    """Reads the words of the texts that the caller may see."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def correct(self, scope: SearchScope, query: ParsedQuery, missing: Iterable[UnitKey]) -> ParsedQuery | None:
        """Return the query with words that occur in scope in place of missing ones, or `None` if there are none."""
        corrections = {word: await self._find_correction(scope, word) for word in misspelled(scope, query, missing)}
        if not any(corrections.values()):
            return None
        return replace(query, words=tuple(corrections.get(word) or word for word in query.words))

    async def _find_correction(self, scope: SearchScope, word: str) -> str | None:
        typed = word.lower()
        middle = len(typed) // 2
        start, end = typed[:middle], typed[middle:]
        swapped = typed[: middle - 1] + typed[middle] + typed[middle - 1] + typed[middle + 1 :]
        parameters = {
            "patterns": [f"% {start}%", f"%{end} %", f"% {swapped} %"],
            "expression": f" ({start}[^ ]{{{len(end) - 1},{len(end) + 1}}}"
            f"|[^ ]{{{max(0, len(start) - 1)},{len(start) + 1}}}{end}|{swapped})(?= )",
            "limit": MAX_CANDIDATES,
        }
        given = {**scope.filters.all_parameters, **scope.parameters, **parameters}
        for found in await self._session.scalars(SPELLINGS, given):
            if differs_by_one(typed, found):
                return str(found)
        return None


def misspelled(scope: SearchScope, query: ParsedQuery, missing: Iterable[UnitKey]) -> list[str]:
    """Return the words of the query that are long enough to correct and of which no passage has any term."""
    terms = [
        (of_language.language, of_language.units[unit].alternatives)
        for unit in missing
        for of_language in scope.queries
        if unit in of_language.units
    ]
    return [
        word
        for word in query.words
        if word.isalpha()
        and MIN_CORRECTED_LETTERS <= len(word) <= MAX_CORRECTED_LETTERS
        and any(
            alternatives in {term.alternatives for term in analyze_query(word, language)}
            for language, alternatives in terms
        )
    ]


def differs_by_one(first: str, second: str) -> bool:
    """Return whether one letter is missing, added or another, or two adjacent ones are swapped."""
    if first == second:
        return False
    same = next(
        (n for n, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
    one, other = first[same:], second[same:]
    return one[1:] == other[1:] or one[1:] == other or one == other[1:] or (one[1::-1] + one[2:] == other)
