"""Values of a search: the request, the parsed query, its form in each language, and the search scope."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from muniment.search.query.filters import NO_FILTERS, SearchFilters
from muniment.storage.vectors.port import IndexingVariant

_TOKEN = re.compile(r'(?P<minus>-?)"(?P<phrase>[^"]*)"?|(?P<word>\S+)')


_HAS_LETTER = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class ParsedQuery:
    """The words, phrases and exclusions of a query as typed."""

    raw: str
    words: tuple[str, ...]
    """Words outside quotes."""
    phrases: tuple[str, ...]
    """Quoted phrases that must match exactly. Empty if the query contains `or`, which makes all terms optional."""
    excluded: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """All words and phrases that are not excluded."""
        return self.words + self.phrases

    @property
    def plain_text(self) -> str:
        """The terms without quotes and operators, as they are embedded. Empty if there are only exclusions."""
        return " ".join(self.terms)


def parse_query(raw: str) -> ParsedQuery:
    """Parse a query: words, "phrases", -exclusions, and `or` between alternatives."""
    words: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    is_choice = False
    for token in _TOKEN.finditer(raw):
        phrase, word = token["phrase"], token["word"]
        if word is not None and word.lower() == "or":
            is_choice = True
            continue
        is_excluded = bool(token["minus"]) if word is None else word.startswith("-")
        term = " ".join(phrase.split()) if word is None else word.lstrip("-").replace('"', "")
        if not _HAS_LETTER.search(term):
            continue
        terms = excluded if is_excluded else words if word is not None else phrases
        terms.append(term)
    if is_choice:
        words, phrases = words + phrases, []
    return ParsedQuery(raw, tuple(words), tuple(phrases), tuple(excluded))


_LEXEME = re.compile(r"'(?:[^']|'')*'")
"""A lexeme in a query as PostgreSQL prints it. It is also a valid query by itself."""


PassageKey = tuple[UUID, int]
"""A passage: its document and its chunk index."""


@dataclass(frozen=True)
class LanguageQuery:
    """The query in the lexemes of one language. A part is `None` if it is empty or has only stop words."""

    language: str
    all_terms: str | None
    """The whole query as typed, with its operators."""
    any_term: str | None
    """Any of the terms."""
    phrases: str | None
    excluded: str | None
    chunk_count: int
    """Number of passages in scope in this language."""
    chunks_without_vectors: int = 0
    """Number of those in documents whose vectors are not complete, which only keywords find."""

    @property
    def lexemes(self) -> Sequence[str]:
        """The lexemes of all terms, each as a query."""
        return list(dict.fromkeys(_LEXEME.findall(self.any_term or "")))


@dataclass(frozen=True)
class SearchScope:
    """The passages that a search covers, and the query in each of their languages."""

    model: IndexingVariant
    kb_ids: Sequence[UUID]
    queries: Sequence[LanguageQuery]
    document_types: Sequence[str] = field(default=())
    filters: SearchFilters = NO_FILTERS

    @property
    def chunk_count(self) -> int:
        return sum(query.chunk_count for query in self.queries)

    @property
    def chunks_without_vectors(self) -> int:
        return sum(query.chunks_without_vectors for query in self.queries)

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "kb_ids": list(self.kb_ids),
            "fingerprint": self.model.fingerprint,
            "document_types": list(self.document_types) or None,
            "languages": [query.language for query in self.queries],
            "phrases": [query.phrases for query in self.queries],
            "excluded": [query.excluded for query in self.queries],
            **self.filters.parameters,
        }


class SearchMode(StrEnum):
    HYBRID = "hybrid"
    VECTOR = "vector"
    TEXT = "text"


class SearchSort(StrEnum):
    RELEVANCE = "relevance"
    DATE = "date"
    """By the date on which the document was added, newest first."""


@dataclass(frozen=True)
class SearchRequest:
    """A search as requested by a caller."""

    query: str
    kb_ids: Sequence[UUID] = ()
    """Empty: all knowledge bases that the caller may search."""
    mode: SearchMode = SearchMode.HYBRID
    document_types: Sequence[str] = ()
    limit: int = 10
    filters: SearchFilters = NO_FILTERS
    sort: SearchSort = SearchSort.RELEVANCE
