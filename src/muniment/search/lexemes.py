"""Format terms as PostgreSQL reads them in `tsvector` and `tsquery`, without its own parser."""

from collections.abc import Iterable

MIN_CORRECTED_LETTERS = 6
"""Shorter words have too many neighbours that differ by one letter."""
MAX_CORRECTED_LETTERS = 40


def quote_lexeme(term: str) -> str:
    """Return the term as a quoted lexeme."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def any_of(queries: Iterable[str | None]) -> str | None:
    """Return the query that matches what any of these matches, or `None` without one."""
    return _join(queries, " | ")


def all_of(queries: Iterable[str | None]) -> str | None:
    """Return the query that matches what all of these match, or `None` without one."""
    return _join(queries, " & ")


def _join(queries: Iterable[str | None], operator: str) -> str | None:
    given = list(dict.fromkeys(query for query in queries if query))
    return given[0] if len(given) == 1 else operator.join(f"({query})" for query in given) or None
