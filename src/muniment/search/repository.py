"""Every query of searching. All read views that show a caller the completed documents of their own knowledge bases."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.knowledge_bases.repository import KnowledgeBaseNotFound
from muniment.search.query_text import QueryText
from muniment.search.statements import (
    CONFIRM_COPIES,
    CONFIRM_SHARED,
    RESTORE,
    SHARES,
    TUNE_FOR_FEW,
    TUNE_FOR_MANY,
    match_words,
)
from muniment.search.ways import SAMPLE, Limits, Shares, Way, ways
from muniment.storage.vectors.port import Candidate, Model

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


@dataclass(frozen=True)
class FoundPassage:
    document_id: UUID
    document_name: str
    kb_id: UUID
    document_type: str
    media_type: str
    page_number: int
    chunk_index: int
    text: str
    language: str

    @property
    def key(self) -> Key:
        return self.document_id, self.chunk_index


_MODEL = text("SELECT model, dimensions, fingerprint FROM indexing_variants WHERE is_active")
_QUERIES = text("""
    SELECT language,
           (SELECT q::text FROM websearch_to_tsquery(language::regconfig, :typed) AS q
             WHERE querytree(q) NOT IN ('', 'T')),
           (SELECT string_agg(format('(%s)', q), ' | ') FROM unnest(CAST(:terms AS text[])) AS term,
                   phraseto_tsquery(language::regconfig, term) AS q WHERE numnode(q) > 0),
           (SELECT string_agg(format('(%s)', q), ' & ') FROM unnest(CAST(:phrases AS text[])) AS term,
                   phraseto_tsquery(language::regconfig, term) AS q WHERE numnode(q) > 0),
           (SELECT string_agg(format('(%s)', q), ' | ') FROM unnest(CAST(:excluded AS text[])) AS term,
                   phraseto_tsquery(language::regconfig, term) AS q WHERE numnode(q) > 0),
           chunks
      FROM (SELECT language, sum(total_chunks) AS chunks FROM indexed_documents
             WHERE knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND fingerprint = :fingerprint
             GROUP BY language) AS present
     ORDER BY language
""")
_READ = text("""
    SELECT p.document_id, p.document_name, p.knowledge_base_id, p.document_type, p.media_type, p.page_number,
           p.chunk_index, p.text, p.language::text
      FROM unnest(CAST(:ids AS uuid[]), CAST(:indexes AS integer[])) AS chosen (document_id, chunk_index)
      JOIN passages p ON p.document_id = chosen.document_id AND p.chunk_index = chosen.chunk_index
     WHERE p.fingerprint = :fingerprint
""")
# A string for each language: an array of a thousand words takes longer to send than to look through.
_MATCHING_WORDS = text("""
    WITH asked AS MATERIALIZED (
        SELECT language, words, tsvector_to_array(to_tsvector(language::regconfig, :spoken)) AS lexemes
          FROM unnest(CAST(:languages AS text[]), CAST(:words AS text[])) AS given (language, words)
    )
    SELECT language, word FROM asked, string_to_table(words, ' ') AS word
     WHERE tsvector_to_array(to_tsvector(language::regconfig, word)) && lexemes
""")
_CENTRE = text("""
    SELECT CAST(avg(embedding) AS text) FROM passages
     WHERE document_id = :document_id AND fingerprint = :fingerprint
""")


class SearchRepository:
    def __init__(self, session: AsyncSession, *, limits: Limits = Limits()) -> None:  # noqa: B008  # it is frozen
        self._session = session
        self._limits = limits

    async def list_kb_ids(self, kb_ids: Sequence[UUID]) -> Sequence[UUID]:
        """These, or all that the caller may see when none is named. One that they may not see does not exist."""
        if not kb_ids:
            return (await self._session.scalars(text("SELECT id FROM knowledge_bases ORDER BY id"))).all()
        named = text("SELECT id FROM knowledge_bases WHERE id = ANY (CAST(:kb_ids AS uuid[])) ORDER BY id")
        found = (await self._session.scalars(named, {"kb_ids": list(kb_ids)})).all()
        if len(found) < len(set(kb_ids)):
            raise KnowledgeBaseNotFound
        return found

    async def find_model(self) -> Model | None:
        """Whose vectors answer; `None` before anything was ever indexed."""
        row = (await self._session.execute(_MODEL)).one_or_none()
        return Model(*row) if row else None

    async def list_queries(self, model: Model, kb_ids: Sequence[UUID], query: QueryText) -> Sequence[LanguageQuery]:
        """One for each language that documents of these knowledge bases are written in."""
        asked = {
            "typed": query.typed,
            "terms": list(query.terms),
            "phrases": list(query.phrases),
            "excluded": list(query.excluded),
        }
        of_scope = {"kb_ids": list(kb_ids), "fingerprint": model.fingerprint}
        return [LanguageQuery(*row) for row in await self._session.execute(_QUERIES, {**asked, **of_scope})]

    async def match_words(self, scope: Scope, *, limit: int) -> Sequence[Key]:
        """Passages that hold any of the wanted terms and none that is excluded; more and rarer ones first."""
        one_of = _one_of([query.loose for query in scope.queries])
        if not one_of:
            return []
        wanted = [(query.language, lexeme) for query in scope.queries for lexeme in query.lexemes]
        asked = {
            **scope.columns,
            "any": one_of,
            "all": _one_of([query.strict for query in scope.queries]),
            "queries": [query.loose for query in scope.queries],
            "strict": [query.strict for query in scope.queries],
            **{f"language_{n}": language for n, (language, _) in enumerate(wanted)},
            **{f"lexeme_{n}": lexeme for n, (_, lexeme) in enumerate(wanted)},
            "most_ranked": self._limits.most_ranked,
            "looked_through": self._limits.looked_through,
            "limit": limit,
        }
        rows: Sequence[Any] = ()
        for way in await self._ways(scope, asked):
            rows = await self._match(way, len(wanted), asked)
            if rows and rows[0][2] == self._limits.most_ranked:
                break
        return [(document_id, chunk_index) for document_id, chunk_index, _ in rows]

    async def _ways(self, scope: Scope, asked: dict[str, Any]) -> Sequence[Way]:
        if scope.chunks <= self._limits.small_scope:
            return [Way.FEW]
        if scope.document_types:  # of a sample there would be little left
            return [Way.MANY]
        kb_ids = scope.kb_ids[:: -(-len(scope.kb_ids) // SAMPLE)]
        sample = {**asked, "kb_ids": list(kb_ids), "of_each": SAMPLE // len(kb_ids)}
        strict, loose = (await self._session.execute(SHARES, sample)).one()
        return ways(scope.chunks, Shares(strict or 0, loose or 0), self._limits)

    async def _match(self, way: Way, words: int, asked: dict[str, Any]) -> Sequence[Any]:
        await self._session.execute(TUNE_FOR_MANY if way is Way.MANY else TUNE_FOR_FEW)
        rows = (await self._session.execute(match_words(words, way), asked)).all()
        if way is Way.MANY:
            await self._session.execute(RESTORE)
        return rows

    async def confirm(self, scope: Scope, candidates: Sequence[Candidate], *, are_copies: bool) -> Sequence[Key]:
        """Those that the caller may see now and that the question allows, in the order of the candidates."""
        proposed = {
            "ids": [candidate.document_id for candidate in candidates],
            "indexes": [candidate.chunk_index for candidate in candidates],
            "epochs": [candidate.epoch for candidate in candidates],
        }
        statement = CONFIRM_COPIES if are_copies else CONFIRM_SHARED
        none = {"queries": [None for _ in scope.queries], "strict": [None for _ in scope.queries]}
        rows = await self._session.execute(statement, {**scope.columns, **proposed, **none})
        return [(document_id, chunk_index) for document_id, chunk_index in rows]

    async def read(self, model: Model, keys: Sequence[Key]) -> Mapping[Key, FoundPassage]:
        """With their texts. One that the caller may no longer see is missing."""
        chosen = {"ids": [key[0] for key in keys], "indexes": [key[1] for key in keys]}
        rows = await self._session.execute(_READ, {**chosen, "fingerprint": model.fingerprint})
        found = [FoundPassage(*row) for row in rows]
        return {passage.key: passage for passage in found}

    async def list_matching_words(self, words: Mapping[str, Iterable[str]], spoken: str) -> set[tuple[str, str]]:
        """Of words by their languages, those that mean the same as one that was asked for."""
        given = {"languages": list(words), "words": [" ".join(of_language) for of_language in words.values()]}
        rows = await self._session.execute(_MATCHING_WORDS, {**given, "spoken": spoken})
        return {(language, word) for language, word in rows}

    async def find_centre(self, model: Model, document_id: UUID) -> Sequence[float] | None:
        """The mean of a document's passages; `None` when it has none."""
        found = await self._session.scalar(_CENTRE, {"document_id": document_id, "fingerprint": model.fingerprint})
        return [float(value) for value in found.strip("[]").split(",")] if found else None


def _one_of(queries: Sequence[str | None]) -> str | None:
    """What any of these asks for: a constant, which an index can look up."""
    return " | ".join(f"({query})" for query in dict.fromkeys(filter(None, queries))) or None
