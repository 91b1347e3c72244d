"""Run lexical searches on the view `passages`, which has only the completed documents that the caller may see."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import TextClause
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.query.lexical.sql import (
    DISABLE_NESTED_LOOPS,
    ENABLE_NESTED_LOOPS,
    SELECTIVITY_SAMPLE,
    SET_PLANNER,
    match_statement,
)
from muniment.search.query.lexical.strategy import (
    SAMPLE_SIZE,
    MatchStrategy,
    ScanLimits,
    SelectivitySample,
    choose_strategies,
)
from muniment.search.query.request import PassageKey, SearchScope


class LexicalRepository:
    """Finds passages by keywords."""

    def __init__(self, session: AsyncSession, *, limits: ScanLimits = ScanLimits()) -> None:  # noqa: B008  # it is frozen
        self._session = session
        self._limits = limits

    async def match(self, scope: SearchScope, *, limit: int) -> Sequence[PassageKey]:
        """Return passages with any of the terms and none of the excluded ones. More and rarer terms rank higher."""
        any_query = _any_of([query.any_term for query in scope.queries])
        if not any_query:
            return []
        lexemes = [(query.language, lexeme) for query in scope.queries for lexeme in query.lexemes]
        parameters = {
            **scope.parameters,
            "any": any_query,
            "all": _any_of([query.all_terms for query in scope.queries]),
            "queries": [query.any_term for query in scope.queries],
            "strict": [query.all_terms for query in scope.queries],
            **{f"language_{n}": language for n, (language, _) in enumerate(lexemes)},
            **{f"lexeme_{n}": lexeme for n, (_, lexeme) in enumerate(lexemes)},
            "most_ranked": self._limits.max_ranked,
            "most_ranked_of_each": _per_knowledge_base(self._limits.max_ranked, scope),
            "looked_through_of_each": _per_knowledge_base(self._limits.max_scanned, scope),
            "sampled_of_each": _per_knowledge_base(SAMPLE_SIZE, scope),
            "limit": limit,
        }
        await self._session.execute(SET_PLANNER)
        rows: Sequence[Any] = ()
        for strategy in await self._choose_strategies(scope, parameters):
            statement = match_statement(len(lexemes), strategy, scope.filters.and_condition())
            rows = await self._match(strategy, statement, parameters)
            # Half of the limit is enough: some knowledge bases may have fewer matches than their share.
            if rows and rows[0].ranked * 2 >= self._limits.max_ranked:
                break
        return [(document_id, chunk_index) for document_id, chunk_index, _ in rows]

    async def _choose_strategies(self, scope: SearchScope, parameters: dict[str, Any]) -> Sequence[MatchStrategy]:
        # The definer function knows no filters. The filtered scope is usually small.
        if scope.chunk_count <= self._limits.small_scope or scope.filters.is_active:
            return [MatchStrategy.SCAN_SCOPE]
        if scope.document_types or len(scope.kb_ids) > SAMPLE_SIZE:  # sampling would be slow or inaccurate
            return [MatchStrategy.USE_INDEX]
        sample = (await self._session.execute(SELECTIVITY_SAMPLE, parameters)).one()
        return choose_strategies(scope.chunk_count, SelectivitySample(*sample), self._limits)

    async def _match(self, strategy: MatchStrategy, statement: TextClause, parameters: dict[str, Any]) -> Sequence[Any]:
        if strategy is MatchStrategy.USE_INDEX:
            await self._session.execute(DISABLE_NESTED_LOOPS)
        rows = (await self._session.execute(statement, parameters)).all()
        if strategy is MatchStrategy.USE_INDEX:
            await self._session.execute(ENABLE_NESTED_LOOPS)
        return rows


def _per_knowledge_base(total: int, scope: SearchScope) -> int:
    """Return the share of one knowledge base in the total, rounded up."""
    return -(-total // max(1, len(scope.kb_ids)))


def _any_of(queries: Sequence[str | None]) -> str | None:
    """Combine the queries into one that matches what any of them matches, so that an index can look it up."""
    return " | ".join(f"({query})" for query in dict.fromkeys(filter(None, queries))) or None
