"""Search passages by keywords, by meaning, or both."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from time import perf_counter
from typing import Protocol
from uuid import UUID

import structlog

from muniment.audit.events import SearchAsked
from muniment.audit.log import AuditLog
from muniment.errors import Unavailable
from muniment.search.query.calibrations import CalibrationCache
from muniment.search.query.duplicates import is_repeated
from muniment.search.query.lexical.repository import LexicalRepository
from muniment.search.query.lexical.spelling import SpellingRepository
from muniment.search.query.lexical.terms import make_language_query
from muniment.search.query.parser import ParsedQuery, parse_query
from muniment.search.query.ranking import Ranking, fuse, limit_per_document
from muniment.search.query.repository import FoundPassage, SearchRepository
from muniment.search.query.request import (
    PassageKey,
    SearchMode,
    SearchRequest,
    SearchScope,
    SearchSort,
)
from muniment.search.query.semantic import ConfirmedVectorSearch
from muniment.search.query.snippets import Snippet, make_snippet, rarity_weights, term_spans
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.port import IndexingVariant, Vector, VectorSearch

log = structlog.get_logger()


MAX_HITS_PER_DOCUMENT = 3
"""Maximum number of hits per document, so that a long document does not fill the page."""


MIN_CANDIDATES = 100
"""Minimum number of candidates of each half, so that a passage with a low rank in one half and a high one in the other
is fused with both."""


MAX_LOADS = 3
"""How often passages are loaded at most: once, and again in place of those that repeat others or are gone."""


class SemanticSearchUnavailable(Unavailable):
    """Search by meaning is unavailable. Try mode=text"""

    code = "NoModel"


class QueryEmbedder(Protocol):
    """The part of an embedding model that queries need."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed_query(self, text: str) -> list[float]:
        """Return a vector of unit length, or raise `Unavailable` if the model does not respond."""

    async def close(self) -> None:
        """Release threads and connections."""


class MatchedBy(StrEnum):
    """Which halves of search found a passage. The values appear in the API."""

    TEXT = "text"
    VECTOR = "vector"
    BOTH = "both"


@dataclass(frozen=True)
class SearchHit:
    passage: FoundPassage
    snippet: Snippet
    score: float
    matched: MatchedBy


@dataclass(frozen=True)
class SearchResult:
    hits: Sequence[SearchHit]
    mode: SearchMode
    """Mode that was used: hybrid falls back to text while the model is unavailable, and where it knows no language."""
    text_only_languages: Sequence[str]
    """Languages in scope that are searched by keywords alone, because the model does not know them."""
    took_ms: float
    passages_without_vectors: int = 0
    """Passages in scope that search by meaning does not find yet. Zero if it was not asked."""


@dataclass(frozen=True)
class Rankings:
    """What each half found; `None` if it was not asked."""

    lexical: Ranking[PassageKey] | None
    semantic: Ranking[PassageKey] | None

    def fuse(self) -> Mapping[PassageKey, float]:
        """Return the score of each passage, best first."""
        return dict(fuse([ranking for ranking in (self.semantic, self.lexical) if ranking]))

    def matched_by(self, key: PassageKey) -> MatchedBy:
        """Return which halves found the passage."""
        if self.semantic is None or key not in self.semantic.scores:
            return MatchedBy.TEXT
        return MatchedBy.BOTH if self.lexical and key in self.lexical.scores else MatchedBy.VECTOR


@dataclass(frozen=True)
class SearchService:
    database: Database
    index: VectorSearch
    embedders: Mapping[str, QueryEmbedder]
    """Embedders by model name; there are two while the installation switches models."""
    audit_queries: bool = False
    calibrations: CalibrationCache = field(default_factory=CalibrationCache)

    async def close(self) -> None:
        """Close the models. The index is closed by its owner."""
        for embedder in self.embedders.values():
            await embedder.close()

    async def search(self, principal: Principal, request: SearchRequest) -> SearchResult:
        """Answer a query. Raise `KnowledgeBaseNotFound` for a knowledge base that the caller may not see."""
        started = perf_counter()
        query = parse_query(request.query)
        hits: Sequence[SearchHit] = []
        mode, without_vectors, text_only_languages = request.mode, 0, list[str]()
        target = await self._resolve_target(principal, request)
        if target and query.plain_text:
            hits, mode, scope = await self._search_target(principal, request, query, *target)
            if request.mode is not SearchMode.TEXT:
                text_only_languages = [*scope.unknown_languages]
            if mode is not SearchMode.TEXT:
                without_vectors = scope.limited_to_known_languages().chunks_without_vectors
        if self.audit_queries:
            await self._record_event(principal, request, len(hits))
        took_ms = round((perf_counter() - started) * 1000, 1)
        log.info("search.completed", user_id=str(principal.user_id), mode=str(mode), results=len(hits), took_ms=took_ms)
        return SearchResult(hits, mode, text_only_languages, took_ms, without_vectors)

    async def _resolve_target(
        self, principal: Principal, request: SearchRequest
    ) -> tuple[IndexingVariant, Sequence[UUID]] | None:
        """Return the active variant and the knowledge bases to search, or `None` if nothing can be found."""
        async with self.database.work(principal) as work:
            repository = SearchRepository(work.session)
            kb_ids = await repository.list_kb_ids(request.kb_ids)
            model = await repository.find_active_model()
        return (model, kb_ids) if model and kb_ids else None

    async def _search_target(
        self,
        principal: Principal,
        request: SearchRequest,
        query: ParsedQuery,
        model: IndexingVariant,
        kb_ids: Sequence[UUID],
    ) -> tuple[Sequence[SearchHit], SearchMode, SearchScope]:
        """Return the hits, the mode that was used, and the scope."""
        depth = max(MIN_CANDIDATES, request.limit * 2)
        # Concurrently, so that the caller waits only for the slower half.
        scoping = asyncio.create_task(self._build_scope(principal, request, query, model, kb_ids))
        lexical = asyncio.create_task(self._rank_lexical(principal, request.mode, query, scoping, depth))
        try:
            vector = await self._embed_query(request.mode, query, model)
            scope = await scoping
            mode, semantic = await self._rank_semantic(principal, request.mode, vector, scope, depth)
            ranking, understood = await lexical
            rankings = Rankings(ranking, semantic)
        finally:
            scoping.cancel()
            lexical.cancel()
            await asyncio.gather(scoping, lexical, return_exceptions=True)
        async with self.database.work(principal) as work:
            if request.sort is SearchSort.RELEVANCE:
                return await self._load_hits(work, understood, model, rankings, request.limit), mode, scope
            # Only relevant passages are worth sorting: the newest of all candidates need not fit the query.
            relevant = await self._load_hits(work, understood, model, rankings, max(MIN_CANDIDATES, request.limit))
            newest_first = sorted(relevant, key=lambda hit: hit.passage.created_at, reverse=True)
            return newest_first[: request.limit], mode, scope

    async def _build_scope(
        self,
        principal: Principal,
        request: SearchRequest,
        query: ParsedQuery,
        model: IndexingVariant,
        kb_ids: Sequence[UUID],
    ) -> SearchScope:
        async with self.database.work(principal) as work:
            queries = await SearchRepository(work.session).build_language_queries(
                model, kb_ids, query, request.filters, request.document_types
            )
            calibration = await self.calibrations.find(work, model)
        return SearchScope(model, kb_ids, queries, request.document_types, request.filters, calibration)

    async def _rank_lexical(
        self, principal: Principal, mode: SearchMode, query: ParsedQuery, scoping: Awaitable[SearchScope], limit: int
    ) -> tuple[Ranking[PassageKey] | None, ParsedQuery]:
        """Return the ranking, and the query with the typing errors corrected in words that no passage has."""
        if mode is SearchMode.VECTOR:
            return None, query
        scope = await scoping
        async with self.database.work(principal) as work:
            repository = LexicalRepository(work.session)
            found = await repository.rank(scope, limit=limit)
            if found.missing:
                corrected = await SpellingRepository(work.session).correct(scope, query, found.missing)
                if corrected:
                    found, query = await repository.rank(scope.rephrase(corrected), limit=limit), corrected
        return Ranking({hit.key: hit.relative_score for hit in found.hits}), query

    async def _rank_semantic(
        self, principal: Principal, mode: SearchMode, vector: Vector | None, scope: SearchScope, limit: int
    ) -> tuple[SearchMode, Ranking[PassageKey] | None]:
        """Return the mode that was actually used, and the ranking if there is one."""
        if mode is SearchMode.TEXT or not scope.queries:
            return mode, None
        if mode is SearchMode.HYBRID and len(scope.unknown_languages) == len(scope.queries):
            return SearchMode.TEXT, None
        vector_search = ConfirmedVectorSearch(self.database, self.index, principal)
        try:
            if vector is None:
                raise SemanticSearchUnavailable
            nearest = await vector_search.nearest(scope, vector, lambda kept: len(_limit_per_document(kept)) >= limit)
        except Unavailable:
            return _fall_back_to_text(mode), None
        return mode, Ranking.by_similarity(nearest, scope.min_similarity(vector))

    async def _embed_query(self, mode: SearchMode, query: ParsedQuery, model: IndexingVariant) -> Vector | None:
        """Return the query's vector, or `None` if the model is unavailable. No transaction is open meanwhile."""
        embedder = self.embedders.get(model.model)
        if mode is SearchMode.TEXT or embedder is None:
            return None
        with suppress(Unavailable):
            return await embedder.embed_query(query.plain_text)
        return None

    async def _load_hits(
        self,
        work: Work[Principal],
        query: ParsedQuery,
        model: IndexingVariant,
        rankings: Rankings,
        limit: int,
    ) -> Sequence[SearchHit]:
        """Return the best distinct passages, at most so many of each document."""
        scores = rankings.fuse()
        repository = SearchRepository(work.session)
        kept: dict[PassageKey, SearchHit] = {}
        remaining = list(scores)
        for _ in range(MAX_LOADS):
            chosen = _limit_per_document([*kept, *remaining])[:limit]
            wanted = [key for key in chosen if key not in kept]
            if not wanted:
                break
            # Loaded through the view again: leaves out what was archived, or what the caller lost access to, meanwhile.
            found = await repository.load_passages(model, wanted)
            passages = [found[key] for key in wanted if key in found]
            for passage, snippet in zip(passages, make_snippets(passages, query), strict=True):
                hit = SearchHit(passage, snippet, scores[passage.key], rankings.matched_by(passage.key))
                if not any(_is_repeated(hit, other) for other in kept.values()):
                    kept[passage.key] = hit
            remaining = [key for key in remaining if key not in set(wanted)]
        return [kept[key] for key in scores if key in kept]

    async def _record_event(self, principal: Principal, request: SearchRequest, result_count: int) -> None:
        event = SearchAsked(request.query, str(request.mode), [str(kb_id) for kb_id in request.kb_ids], result_count)
        async with self.database.work(principal) as work:
            await AuditLog(work).record(event)


def _limit_per_document(keys: Iterable[PassageKey]) -> list[PassageKey]:
    return limit_per_document(keys, MAX_HITS_PER_DOCUMENT)


def _is_repeated(hit: SearchHit, other: SearchHit) -> bool:
    return is_repeated(hit.passage, hit.snippet.text, other.passage, other.snippet.text)


def _fall_back_to_text(mode: SearchMode) -> SearchMode:
    if mode is SearchMode.VECTOR:
        raise SemanticSearchUnavailable from None
    log.warning("search.semantic_unavailable")
    return SearchMode.TEXT


def make_snippets(passages: Sequence[FoundPassage], query: ParsedQuery) -> Sequence[Snippet]:
    """Return the snippet of each passage, with the words that match the query."""
    terms = {language: make_language_query(query, language).terms for language in {one.language for one in passages}}
    texts = [passage.text for passage in passages]
    spans = [term_spans(passage.text, passage.language, terms[passage.language]) for passage in passages]
    weights = rarity_weights(zip(texts, spans, strict=True))
    return [make_snippet(text, found, weights) for text, found in zip(texts, spans, strict=True)]
