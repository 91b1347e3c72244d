"""The terms of a query in each language of its scope, as PostgreSQL reads them. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from muniment.search.analysis.analyzer import QueryTerm, analyze_query
from muniment.search.lexemes import all_of, any_of, quote_lexeme
from muniment.search.query.parser import ParsedQuery

MAX_UNITS = 100
"""Terms of a query that are ranked at most; more would need more columns than PostgreSQL has time for."""

UnitKey = tuple[int, int]
"""A position of the query, and the number of the term at it: the same in all languages."""


@dataclass(frozen=True)
class LanguageQuery:
    """The query in the terms of one language. A part is `None` if it is empty or has only stop words."""

    language: str
    units: dict[UnitKey, QueryTerm]
    """What the query asks for, by which passages are ranked: more and rarer ones rank higher."""
    any_term: str | None
    """Any of the units; of a query with `or`, any of its words and phrases."""
    all_terms: str | None
    """All terms and phrases of the query, or any of them if it contains `or`."""
    phrases: str | None
    excluded: str | None
    chunk_count: int = 0
    """Number of passages in scope in this language."""
    chunks_without_vectors: int = 0
    """Number of those in documents whose vectors are not complete, which only keywords find."""
    old_chunks: int = 0
    """Number of those whose terms are still of the old form."""
    total_length: int = 0
    """Sum of the lengths of all others."""

    def unit(self, key: UnitKey) -> str | None:
        """Return the query for one unit, or `None` if this language does not ask for it."""
        term = self.units.get(key)
        return any_of(map(quote_lexeme, term.alternatives)) if term else None

    def any_of(self, keys: Iterable[UnitKey]) -> str | None:
        """Any of these units, or `None` if this language asks for none of them."""
        return any_of(map(self.unit, keys))

    def rephrase(self, query: ParsedQuery) -> "LanguageQuery":
        """Return another query for the same passages."""
        counts = (self.chunk_count, self.chunks_without_vectors, self.old_chunks, self.total_length)
        return make_language_query(query, self.language, *counts)

    @property
    def is_choice(self) -> bool:
        """Whether any of the terms suffices, so that there is nothing more to prefer."""
        return self.all_terms == self.any_term

    @property
    def terms(self) -> set[str]:
        """All terms that count as a match."""
        return {alternative for term in self.units.values() for alternative in term.alternatives}


def make_language_query(query: ParsedQuery, language: str, *counts: int) -> LanguageQuery:
    """Return the query in the terms of a language, with the counts of its passages in scope."""
    units: dict[UnitKey, QueryTerm] = {}
    last: dict[int, int] = {}
    for term in analyze_query(query.plain_text, language)[:MAX_UNITS]:
        if term.alternatives:
            last[term.position] = last.get(term.position, -1) + 1
            units[term.position, last[term.position]] = term
    phrases = [_phrase(phrase, language) for phrase in query.phrases]
    terms = [any_of(map(quote_lexeme, term.alternatives)) for term in units.values()]
    any_term = any_of(_phrase(term, language) for term in query.words) if query.is_choice else any_of(terms)
    return LanguageQuery(
        language,
        units,
        any_term,
        any_term if query.is_choice else all_of([*terms, *phrases]),
        all_of(phrases),
        any_of(_phrase(term, language) for term in query.excluded),
        *counts,
    )


def _phrase(text: str, language: str) -> str | None:
    """Return the query for the words of a text one after another, at the same distances."""
    words: dict[int, QueryTerm] = {}
    for term in analyze_query(text, language):
        words.setdefault(term.position, term)  # the first one is the whole value, the others its parts
    query, last = "", 0
    for position, term in sorted(words.items()):
        distance = f" <{position - last}> " if query else ""
        query += f"{distance}({any_of(map(quote_lexeme, term.alternatives))})"
        last = position
    return query or None


def list_units(queries: Sequence[LanguageQuery]) -> Sequence[UnitKey]:
    """Return the units of all languages, in the order of the query."""
    return sorted({key for query in queries for key in query.units})
