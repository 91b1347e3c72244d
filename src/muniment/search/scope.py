"""Where to look, and for what: the same for words and for meaning."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from muniment.storage.vectors.port import Model

_LEXEME = re.compile(r"'(?:[^']|'')*'")
"""In a query as PostgreSQL writes it; each is a query of its own."""

Key = tuple[UUID, int]
"""A passage: its document and its place among the chunks of that."""


@dataclass(frozen=True)
class LanguageQuery:
    """The same question as queries of one language's words; `None` where nothing is left of it."""

    language: str
    strict: str | None
    """Everything that was typed."""
    loose: str | None
    """Any of the wanted terms."""
    phrases: str | None
    excluded: str | None
    chunks: int
    """Passages in scope that are written in it."""

    @property
    def lexemes(self) -> Sequence[str]:
        """The wanted words, each as a query."""
        return list(dict.fromkeys(_LEXEME.findall(self.loose or "")))


@dataclass(frozen=True)
class Scope:
    """Where to look, and for what."""

    model: Model
    kb_ids: Sequence[UUID]
    queries: Sequence[LanguageQuery]
    document_types: Sequence[str] = field(default=())

    @property
    def chunks(self) -> int:
        return sum(query.chunks for query in self.queries)

    @property
    def columns(self) -> dict[str, Any]:
        return {
            "kb_ids": list(self.kb_ids),
            "fingerprint": self.model.fingerprint,
            "document_types": list(self.document_types) or None,
            "languages": [query.language for query in self.queries],
            "phrases": [query.phrases for query in self.queries],
            "excluded": [query.excluded for query in self.queries],
        }
