"""Rank passages by keywords: BM25 over the completed documents that the caller may see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.lexemes import any_of, quote_lexeme
from muniment.search.query.lexical.candidates import CandidateLimits, plan_candidates
from muniment.search.query.lexical.sql import (
    SCANNED,
    SET_PLANNER,
    counting_statement,
    looked_up,
    ranking_statement,
)
from muniment.search.query.lexical.terms import LanguageQuery, UnitKey, list_units
from muniment.search.query.request import PassageKey, SearchScope

MIN_MATCHED_SHARE = 0.1
"""Relevance floor: the share of the query's weight that the matching terms of a hit must have. Less
than 1 % of the questions of the collections in benchmarks/retrieval have their answer below it."""
DEFAULT_LENGTH = 100.0
"""Average length where all passages are of the old form, which has none."""


@dataclass(frozen=True)
class LexicalHit:
    key: PassageKey
    score: float
    matched_share: float
    """Share of the weight of the query (the rarer a term, the more) that the terms in the passage have."""
    relative_score: float
    """The score as a share of the weight of the query, from 0 to 1."""


@dataclass(frozen=True)
class LexicalRanking:
    hits: Sequence[LexicalHit] = ()
    """The best passages, best first."""
    missing: Sequence[UnitKey] = ()
    """What the query asks for and no passage in scope has."""


class LexicalRepository:
    """Finds passages by keywords."""

    def __init__(
        self,
        session: AsyncSession,
        *,
        limits: CandidateLimits = CandidateLimits(),  # noqa: B008  # it is frozen
        min_share: float = MIN_MATCHED_SHARE,
    ) -> None:
        self._session = session
        self._limits = limits
        self._min_share = min_share

    async def rank(self, scope: SearchScope, *, limit: int) -> LexicalRanking:
        """Return passages with any of the terms, all phrases and none of the exclusions, best first."""
        units = list_units(scope.queries)
        if not units or not scope.chunk_count:
            return LexicalRanking()
        await self._session.execute(SET_PLANNER)
        ranking = _Ranking(scope, units, limit, self._min_share)
        step = -(-scope.chunk_count // self._limits.scanned)
        if step == 1:
            return await self._rank(ranking, SCANNED, {"step": 1, "passages": scope.chunk_count})
        sampled = -(-scope.chunk_count // step)
        counts = {unit: count * step for unit, count in (await self._count(ranking, step)).items()}
        plan = plan_candidates(counts, scope.chunk_count, self._limits)
        found, parameters = ranking.look_up(plan.units, self._limits)
        if not plan.units and not ranking.has_phrases:
            found = f"{SCANNED} UNION ALL {found}" if found else SCANNED
            return await self._rank(ranking, found, {**parameters, "step": step, "passages": sampled})
        estimated = {f"count_{n}": counts[unit] for n, unit in enumerate(units)}
        return await self._rank(ranking, found, {**parameters, **estimated, "passages": scope.chunk_count})

    async def _count(self, ranking: "_Ranking", step: int) -> Mapping[UnitKey, int]:
        """Return how many passages of a sample have each unit."""
        statement = counting_statement(len(ranking.units))
        row = (await self._session.execute(statement, {**ranking.counting_parameters, "step": step})).one()
        return dict(zip(ranking.units, row, strict=True))

    async def _rank(self, ranking: "_Ranking", found: str, parameters: Mapping[str, Any]) -> LexicalRanking:
        statement = ranking_statement(ranking.alternative_counts, found)
        rows = (await self._session.execute(statement, {**ranking.parameters, **parameters})).all()
        hits = [
            LexicalHit((row.document_id, row.chunk_index), row.score, row.share, row.relative_score)
            for row in rows
            if row.document_id
        ]
        counts = zip(ranking.units, rows[0].all_counts, strict=True)
        return LexicalRanking(hits, [unit for unit, count in counts if not count])


@dataclass(frozen=True)
class _Ranking:
    """The parameters of the statements for one query."""

    scope: SearchScope
    units: Sequence[UnitKey]
    limit: int
    min_share: float

    @property
    def _common(self) -> dict[str, Any]:
        queries = self.scope.queries
        return {
            **self.scope.filters.all_parameters,
            **self.scope.parameters,
            "any": [query.phrases or query.any_term for query in queries],
        }

    @property
    def counting_parameters(self) -> dict[str, Any]:
        terms = {f"term_{n}": [query.unit(unit) for query in self.scope.queries] for n, unit in enumerate(self.units)}
        return {**self._common, **terms}

    @property
    def alternative_counts(self) -> tuple[int, ...]:
        """For each unit, the largest number of alternatives that a language has."""
        return tuple(max(len(_alternatives(query, unit)) for query in self.scope.queries) for unit in self.units)

    @property
    def parameters(self) -> dict[str, Any]:
        values = {**self._common, "limit": self.limit, "min_share": self.min_share}
        for n, (unit, count) in enumerate(zip(self.units, self.alternative_counts, strict=True)):
            known = [_alternatives(query, unit) for query in self.scope.queries]
            for m in range(count):
                values[f"term_{n}_{m}"] = [quote_lexeme(one[m]) if m < len(one) else None for one in known]
            values[f"weight_{n}"] = max(query.units[unit].weight for query in self.scope.queries if unit in query.units)
            values[f"count_{n}"] = 0
        analyzed = sum(query.chunk_count - query.old_chunks for query in self.scope.queries)
        length = sum(query.total_length for query in self.scope.queries)
        return {**values, "average_length": length / analyzed if length else DEFAULT_LENGTH}

    @property
    def has_phrases(self) -> bool:
        return any(query.phrases for query in self.scope.queries)

    def look_up(self, units: Sequence[UnitKey], limits: CandidateLimits) -> tuple[str, dict[str, Any]]:
        """Return what finds the passages with all terms, or with any of these units, and its parameters."""
        queries = self.scope.queries
        wanted = {}
        if units or self.has_phrases:
            wanted["part"] = [_matching(query, units) for query in queries]
        if not all(query.is_choice for query in queries):
            wanted["whole"] = [query.all_terms for query in queries]
        parameters: dict[str, Any] = {"has_old_form": any(query.old_chunks for query in queries)}
        for name, of_languages in wanted.items():
            parameters[name] = of_languages
            parameters[f"{name}_any"] = any_of(of_languages)
            parameters[f"limit_{name}"] = limits.looked_up if name == "part" else limits.budget
        return " UNION ALL ".join(looked_up(name) for name in wanted), parameters


def _matching(query: LanguageQuery, units: Sequence[UnitKey]) -> str | None:
    """Return what a passage must have that is looked up by these units."""
    return query.phrases or (query.any_term if query.is_choice else query.any_of(units))


def _alternatives(query: LanguageQuery, unit: UnitKey) -> tuple[str, ...]:
    term = query.units.get(unit)
    return term.alternatives if term else ()
