"""Search passages by meaning, by words, or by both."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol
from uuid import UUID

import structlog

from muniment.audit.events import SearchAsked
from muniment.audit.log import AuditLog
from muniment.errors import Unavailable
from muniment.search.query.lexical.repository import WordRepository
from muniment.search.query.ranking import Ranking, best_of_each, fuse, weight_of_words
from muniment.search.query.repository import FoundPassage, SearchRepository
from muniment.search.query.request import Key, Mode, QueryText, Question, Scope, parse
from muniment.search.query.semantic import Authority
from muniment.search.query.snippets import Snippet, cut, word_spans, words_by_language
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.port import Model, Vector, VectorIndex

log = structlog.get_logger()


PER_DOCUMENT = 3
"""Hits of one document in an answer: a long one must not fill the page."""


LEAST_DEPTH = 50
"""So many of each half are fused at least: what is twentieth in both is better than what is fifth in one."""


class NoModel(Unavailable):
    """Search by meaning is unavailable. Try mode=text"""


class QueryEmbedder(Protocol):
    """The part of an embedder that a question needs."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed_query(self, text: str) -> list[float]:
        """Of unit length. `Unavailable` when the model does not answer."""

    async def close(self) -> None:
        """Let go of threads and connections."""


@dataclass(frozen=True)
class Hit:
    passage: FoundPassage
    snippet: Snippet
    score: float


@dataclass(frozen=True)
class Answer:
    hits: Sequence[Hit]
    mode: Mode
    """What really answered: a hybrid question is answered by words alone while the model does not."""
    took_ms: float


@dataclass(frozen=True)
class Searching:
    database: Database
    index: VectorIndex
    embedders: Mapping[str, QueryEmbedder]
    """By the name of their model: while the installation changes from one to another there are two."""
    audit_queries: bool = False

    async def close(self) -> None:
        """Let go of the models; the index is closed by who opened it."""
        for embedder in self.embedders.values():
            await embedder.close()

    async def search(self, principal: Principal, question: Question) -> Answer:
        """Raises `KnowledgeBaseNotFound` when one is named that the caller may not see."""
        started = perf_counter()
        query = parse(question.typed)
        hits: Sequence[Hit] = []
        mode = question.mode
        where = await self._where(principal, question)
        if where and query.spoken:
            hits, mode = await self._find(principal, question, query, *where)
        if self.audit_queries:
            await self._record(principal, question, len(hits))
        took_ms = round((perf_counter() - started) * 1000, 1)
        log.info("search.asked", user_id=str(principal.user_id), mode=str(mode), results=len(hits), took_ms=took_ms)
        return Answer(hits, mode, took_ms)

    async def _where(self, principal: Principal, question: Question) -> tuple[Model, Sequence[UUID]] | None:
        """Whose vectors answer, and in which knowledge bases; `None` where nothing can be found."""
        async with self.database.work(principal) as work:
            repository = SearchRepository(work.session)
            kb_ids = await repository.list_kb_ids(question.kb_ids)
            model = await repository.find_model()
        return (model, kb_ids) if model and kb_ids else None

    async def _find(
        self, principal: Principal, question: Question, query: QueryText, model: Model, kb_ids: Sequence[UUID]
    ) -> tuple[Sequence[Hit], Mode]:
        depth = max(LEAST_DEPTH, question.limit * 2)
        # Side by side: nobody waits for what they do not need, and whoever asks waits for the slower half only.
        scoping = asyncio.create_task(self._scope(principal, question, query, model, kb_ids))
        words = asyncio.create_task(self._by_words(principal, question.mode, query, scoping, depth))
        try:
            vector = await self._vector(question.mode, query, model)
            scope = await scoping
            mode, near = await self._by_meaning(principal, question.mode, vector, scope, depth)
            rankings = [ranking for ranking in (near, await words) if ranking]
        finally:
            scoping.cancel()
            words.cancel()
            await asyncio.gather(scoping, words, return_exceptions=True)
        async with self.database.work(principal) as work:
            return await self._read(work, query, model, rankings, question.limit), mode

    async def _scope(
        self, principal: Principal, question: Question, query: QueryText, model: Model, kb_ids: Sequence[UUID]
    ) -> Scope:
        async with self.database.work(principal) as work:
            queries = await SearchRepository(work.session).list_queries(model, kb_ids, query)
        return Scope(model, kb_ids, queries, question.document_types)

    async def _by_words(
        self, principal: Principal, mode: Mode, query: QueryText, scoping: Awaitable[Scope], depth: int
    ) -> Ranking[Key] | None:
        if mode is Mode.VECTOR:
            return None
        scope = await scoping
        async with self.database.work(principal) as work:
            found = await WordRepository(work.session).match(scope, limit=depth)
        return Ranking(found, weight_of_words(len(query.spoken.split())))

    async def _by_meaning(
        self, principal: Principal, mode: Mode, vector: Vector | None, scope: Scope, depth: int
    ) -> tuple[Mode, Ranking[Key] | None]:
        """What really answered, too."""
        if mode is Mode.TEXT or not scope.queries:
            return mode, None
        authority = Authority(self.database, self.index, principal)
        try:
            if vector is None:
                raise NoModel
            near = await authority.nearest(scope, vector, lambda kept: len(_shown(kept)) >= depth)
        except Unavailable:
            return _without_meaning(mode), None
        return mode, Ranking(list(near))

    async def _vector(self, mode: Mode, query: QueryText, model: Model) -> Vector | None:
        """The question's, if the model answers. No transaction waits for it."""
        embedder = self.embedders.get(model.name)
        if mode is Mode.TEXT or embedder is None:
            return None
        with suppress(Unavailable):
            return await embedder.embed_query(query.spoken)
        return None

    async def _read(
        self,
        work: Work[Principal],
        query: QueryText,
        model: Model,
        rankings: Sequence[Ranking[Key]],
        limit: int,
    ) -> Sequence[Hit]:
        scores = dict(fuse(rankings))
        repository = SearchRepository(work.session)
        # A last look: who lost a right, or a document that was archived, since the halves answered is left out.
        found = await repository.read(model, _shown(scores)[:limit])
        chosen = [found[key] for key in scores if key in found]
        snippets = await snippets_of(repository, chosen, query)
        return [Hit(passage, snippet, scores[passage.key]) for passage, snippet in zip(chosen, snippets, strict=True)]

    async def _record(self, principal: Principal, question: Question, results: int) -> None:
        event = SearchAsked(question.typed, str(question.mode), [str(kb_id) for kb_id in question.kb_ids], results)
        async with self.database.work(principal) as work:
            await AuditLog(work).record(event)


def _shown(keys: Iterable[Key]) -> list[Key]:
    return best_of_each(keys, PER_DOCUMENT)


def _without_meaning(mode: Mode) -> Mode:
    if mode is Mode.VECTOR:
        raise NoModel from None
    log.warning("search.without_meaning")
    return Mode.TEXT


async def snippets_of(
    repository: SearchRepository, passages: Sequence[FoundPassage], query: QueryText
) -> Sequence[Snippet]:
    words = words_by_language((passage.language, passage.text) for passage in passages)
    matching = await repository.list_matching_words(words, query.spoken)
    return [cut(passage.text, word_spans(passage.text, passage.language, matching)) for passage in passages]
