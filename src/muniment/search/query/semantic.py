"""Semantic search: fetch candidates from the vector index and keep those that PostgreSQL confirms for the caller."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import PassageKey, SearchScope
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.port import Candidate, Vector, VectorSearch

INITIAL_LIMIT = 100


LIMIT_GROWTH = 4


MAX_ROUNDS = 6
"""With the growth this allows some hundred thousand candidates. Needing more suggests a damaged index."""


StopCondition = Callable[[Iterable[PassageKey]], bool]


@dataclass(frozen=True)
class ConfirmedVectorSearch:
    """Searches a vector index on behalf of one user."""

    database: Database
    index: VectorSearch
    principal: Principal

    async def nearest(self, scope: SearchScope, vector: Vector, is_enough: StopCondition) -> Mapping[PassageKey, float]:
        """Return confirmed keys with their similarities, most similar first, none below the limit of the model.

        Passages in languages that the model does not know are left out. More candidates are fetched until `is_enough`,
        none is similar enough, the index has no more, or the rounds are used up.
        """
        least = scope.min_similarity(vector)
        scope = scope.limited_to_known_languages()
        if not scope.queries:
            return {}
        kept: dict[PassageKey, float] = {}
        seen: set[PassageKey] = set()
        size, skip = INITIAL_LIMIT, 0
        for _ in range(MAX_ROUNDS):
            # An external engine uses no connection: the transaction begins with the confirmation.
            async with self.database.work(self.principal) as work:
                found = await self.index.nearest(
                    work,
                    scope.model,
                    scope.kb_ids,
                    vector,
                    limit=size,
                    offset=skip,
                    scope_size=scope.chunk_count,
                    documents=scope.document_condition,
                )
                proposed = found[:size]
                similar = [candidate for candidate in proposed if least is None or _similarity(candidate) >= least]
                fresh = [candidate for candidate in similar if _passage_key(candidate) not in seen]
                confirmed = await self._confirm(work, scope, fresh)
            seen |= {_passage_key(candidate) for candidate in fresh}
            similarities = {_passage_key(candidate): _similarity(candidate) for candidate in reversed(fresh)}
            for key in confirmed:
                kept.setdefault(key, similarities[key])
            if len(similar) < size or is_enough(kept):
                break
            size, skip = size * LIMIT_GROWTH, skip + len(proposed)
        return kept

    async def _confirm(
        self, work: Work[Principal], scope: SearchScope, candidates: Sequence[Candidate]
    ) -> Sequence[PassageKey]:
        if not candidates:
            return []
        return await SearchRepository(work.session).confirm(scope, candidates)


def _similarity(candidate: Candidate) -> float:
    return 1 - candidate.distance


def _passage_key(candidate: Candidate) -> PassageKey:
    return candidate.document_id, candidate.chunk_index
