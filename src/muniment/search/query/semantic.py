"""Semantic search: fetch candidates from the vector index and keep those that PostgreSQL confirms for the caller."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import Key, Scope
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.port import Candidate, Vector, VectorIndex

FIRST_BATCH = 100


GROWTH = 4


ROUNDS = 6
"""With the growth some hundred thousand candidates: whoever finds nothing among them has an index that lies."""


Enough = Callable[[Iterable[Key]], bool]


@dataclass(frozen=True)
class Authority:
    """Asks an index on behalf of one person."""

    database: Database
    index: VectorIndex
    principal: Principal

    async def nearest(self, scope: Scope, vector: Vector, enough: Enough) -> Mapping[Key, float]:
        """With their distances, nearest first, all of them visible to the caller at this moment. More is asked for
        until it is `enough`, the index has no more, or the rounds are used up."""
        kept: dict[Key, float] = {}
        seen: set[Key] = set()
        size, skip = FIRST_BATCH, 0
        for _ in range(ROUNDS):
            # An engine elsewhere asks for no connection: the transaction begins with the confirmation.
            async with self.database.work(self.principal) as work:
                found = await self.index.nearest(
                    work, scope.model, scope.kb_ids, vector, limit=size, skip=skip, among=scope.chunks
                )
                proposed = found[:size]
                fresh = [candidate for candidate in proposed if _key(candidate) not in seen]
                confirmed = await self._confirm(work, scope, fresh)
            seen |= {_key(candidate) for candidate in fresh}
            distances = {_key(candidate): candidate.distance for candidate in reversed(fresh)}
            for key in confirmed:
                kept.setdefault(key, distances[key])
            if len(proposed) < size or enough(kept):
                break
            size, skip = size * GROWTH, skip + len(proposed)
        return kept

    async def _confirm(self, work: Work[Principal], scope: Scope, candidates: Sequence[Candidate]) -> Sequence[Key]:
        if not candidates:
            return []
        repository = SearchRepository(work.session)
        return await repository.confirm(scope, candidates, are_copies=self.index.holds_copies)


def _key(candidate: Candidate) -> Key:
    return candidate.document_id, candidate.chunk_index
