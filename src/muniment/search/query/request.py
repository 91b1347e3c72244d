"""Values of a search: the request, and the search scope with the query in each of its languages."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

from muniment.search.embedding.calibration import ModelCalibration
from muniment.search.query.filters import NO_FILTERS, SearchFilters
from muniment.search.query.lexical.terms import LanguageQuery
from muniment.search.query.parser import ParsedQuery
from muniment.storage.vectors.port import DocumentCondition, IndexingVariant

PassageKey = tuple[UUID, int]
"""A passage: its document and its chunk index."""


_IN_KNOWN_LANGUAGES = """
    AND document_id IN (SELECT document_id FROM indexed_documents
         WHERE knowledge_base_id = ANY (CAST(:language_kb_ids AS uuid[])) AND fingerprint = :language_fingerprint
           AND language = ANY (CAST(:known_languages AS text[])))
"""


@dataclass(frozen=True)
class SearchScope:
    """The passages that a search covers, and the query in each of their languages."""

    model: IndexingVariant
    kb_ids: Sequence[UUID]
    queries: Sequence[LanguageQuery]
    document_types: Sequence[str] = field(default=())
    filters: SearchFilters = NO_FILTERS
    calibration: ModelCalibration | None = None
    """What similarities of the model mean, once it is measured."""
    known_languages: Sequence[str] | None = None
    """The only languages that are searched, if not all."""

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
    def unknown_languages(self) -> Sequence[str]:
        """Languages of passages in scope in which the model cannot tell related texts from unrelated ones."""
        if self.calibration is None:
            return []
        return [query.language for query in self.queries if not self.calibration.knows(query.language)]

    def limited_to_known_languages(self) -> "SearchScope":
        """Return the scope without passages in unknown languages."""
        if not (unknown := self.unknown_languages):
            return self
        queries = [query for query in self.queries if query.language not in unknown]
        return replace(self, queries=queries, known_languages=[query.language for query in queries])

    def min_similarity(self, vector: Sequence[float]) -> float | None:
        """Return the similarity to this vector from which on a passage counts, or `None` if that is not known."""
        return self.calibration.min_similarity(vector) if self.calibration else None

    @property
    def document_condition(self) -> DocumentCondition | None:
        """The condition on documents for a vector engine inside PostgreSQL, or `None` if all count."""
        condition = self.filters.document_condition
        if self.known_languages is None:
            return condition
        languages = DocumentCondition(
            _IN_KNOWN_LANGUAGES,
            {
                "language_kb_ids": list(self.kb_ids),
                "language_fingerprint": self.model.fingerprint,
                "known_languages": list(self.known_languages),
            },
        )
        if condition is None:
            return languages
        return DocumentCondition(f"{condition.sql} {languages.sql}", {**condition.parameters, **languages.parameters})

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
