"""Values of a search: the request, the parsed query, its form in each language, and the scope."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from muniment.storage.vectors.port import IndexingVariant

_TOKEN = re.compile(r'(?P<minus>-?)"(?P<phrase>[^"]*)"?|(?P<word>\S+)')


_HAS_LETTER = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class ParsedQuery:
    raw: str
    words: tuple[str, ...]
    """Wanted, outside of quotes."""
    phrases: tuple[str, ...]
    """Wanted exactly; none where an `or` makes everything a choice."""
    excluded: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """Everything that is wanted, each a word or a phrase."""
        return self.words + self.phrases

    @property
    def plain_text(self) -> str:
        """What a model is asked: the wanted words without any signs. Empty when nothing is wanted."""
        return " ".join(self.terms)


def parse_query(raw: str) -> ParsedQuery:
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
        place = excluded if is_excluded else words if word is not None else phrases
        place.append(term)
    if is_choice:
        words, phrases = words + phrases, []
    return ParsedQuery(raw, tuple(words), tuple(phrases), tuple(excluded))


_LEXEME = re.compile(r"'(?:[^']|'')*'")
"""In a query as PostgreSQL writes it; each is a query of its own."""


PassageKey = tuple[UUID, int]
"""A passage: its document and its place among the chunks of that."""


@dataclass(frozen=True)
class LanguageQuery:
    """The same question as queries of one language's words; `None` where nothing is left of it."""

    language: str
    all_terms: str | None
    """Everything that was typed."""
    any_term: str | None
    """Any of the wanted terms."""
    phrases: str | None
    excluded: str | None
    chunk_count: int
    """Passages in scope that are written in it."""

    @property
    def lexemes(self) -> Sequence[str]:
        """The wanted words, each as a query."""
        return list(dict.fromkeys(_LEXEME.findall(self.any_term or "")))


@dataclass(frozen=True)
class SearchScope:
    """Where to look, and for what."""

    model: IndexingVariant
    kb_ids: Sequence[UUID]
    queries: Sequence[LanguageQuery]
    document_types: Sequence[str] = field(default=())

    @property
    def chunk_count(self) -> int:
        return sum(query.chunk_count for query in self.queries)

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "kb_ids": list(self.kb_ids),
            "fingerprint": self.model.fingerprint,
            "document_types": list(self.document_types) or None,
            "languages": [query.language for query in self.queries],
            "phrases": [query.phrases for query in self.queries],
            "excluded": [query.excluded for query in self.queries],
        }


class SearchMode(StrEnum):
    HYBRID = "hybrid"
    VECTOR = "vector"
    TEXT = "text"


@dataclass(frozen=True)
class SearchRequest:
    query: str
    kb_ids: Sequence[UUID] = ()
    """All that the caller may see when empty."""
    mode: SearchMode = SearchMode.HYBRID
    document_types: Sequence[str] = ()
    limit: int = 10
