"""Execute lexical search on a view that shows a caller the completed documents of their own knowledge bases."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.query.lexical.sql import RESTORE, SAMPLE, TUNE, TUNE_FOR_MANY, match_words
from muniment.search.query.lexical.strategy import SAMPLED, Limits, Sample, Way, ways
from muniment.search.query.request import Key, Scope


class WordRepository:
    def __init__(self, session: AsyncSession, *, limits: Limits = Limits()) -> None:  # noqa: B008  # it is frozen
        self._session = session
        self._limits = limits

    async def match(self, scope: Scope, *, limit: int) -> Sequence[Key]:
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
            "most_ranked_of_each": _of_each(self._limits.most_ranked, scope),
            "looked_through_of_each": _of_each(self._limits.looked_through, scope),
            "sampled_of_each": _of_each(SAMPLED, scope),
            "limit": limit,
        }
        await self._session.execute(TUNE)
        rows: Sequence[Any] = ()
        for way in await self._ways(scope, asked):
            rows = await self._match(way, len(wanted), asked)
            # Half of it, as not every knowledge base may have its share.
            if rows and rows[0].ranked * 2 >= self._limits.most_ranked:
                break
        return [(document_id, chunk_index) for document_id, chunk_index, _ in rows]

    async def _ways(self, scope: Scope, asked: dict[str, Any]) -> Sequence[Way]:
        if scope.chunks <= self._limits.small_scope:
            return [Way.FEW]
        if scope.document_types or len(scope.kb_ids) > SAMPLED:  # a sample would be a costly or a poor one
            return [Way.MANY]
        sample = (await self._session.execute(SAMPLE, asked)).one()
        return ways(scope.chunks, Sample(*sample), self._limits)

    async def _match(self, way: Way, words: int, asked: dict[str, Any]) -> Sequence[Any]:
        if way is Way.MANY:
            await self._session.execute(TUNE_FOR_MANY)
        rows = (await self._session.execute(match_words(words, way), asked)).all()
        if way is Way.MANY:
            await self._session.execute(RESTORE)
        return rows


def _of_each(number: int, scope: Scope) -> int:
    """Knowledge base, rounded up."""
    return -(-number // max(1, len(scope.kb_ids)))


def _one_of(queries: Sequence[str | None]) -> str | None:
    """What any of these asks for: a constant, which an index can look up."""
    return " | ".join(f"({query})" for query in dict.fromkeys(filter(None, queries))) or None
