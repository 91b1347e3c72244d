"""Values of a search: the request, and the search scope with the query in each of its languages."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

from muniment.search.query.filters import NO_FILTERS, SearchFilters
from muniment.search.query.lexical.terms import LanguageQuery
from muniment.search.query.parser import ParsedQuery
from muniment.storage.vectors.port import IndexingVariant

PassageKey = tuple[UUID, int]
"""A passage: its document and its chunk index."""


@dataclass(frozen=True)
class SearchScope:
    """The passages that a search covers, and the query in each of their languages."""

    model: IndexingVariant
    kb_ids: Sequence[UUID]
    queries: Sequence[LanguageQuery]
    document_types: Sequence[str] = field(default=())
    filters: SearchFilters = NO_FILTERS

    def rephrase(self, query: ParsedQuery) -> "SearchScope":
        """Return the same scope with another query."""
        return replace(self, queries=[of_language.rephrase(query) for of_language in self.queries])

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
