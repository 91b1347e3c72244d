"""Vector search inside PostgreSQL, exact or by HNSW.

Chunks belong to shared artifacts, and a document makes them visible through its own row. Nothing is copied per
document, so nothing can be stale.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause, bindparam, text

from muniment.errors import Unavailable
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.port import Candidate, IndexingVariant, Vector, VectorSearch

EXACT_SEARCH_LIMIT = 200_000
"""Chunks in scope: so many are compared one by one, with recall 1. More are left to the HNSW index. With the vectors in
an index of their own (`model_indexes`) that takes a millisecond for a thousand; in a tenth of a million HNSW takes as
long, up to five times where the subject is rare there, and misses one or two of ten."""
OVER_FETCH = 3
MIN_FETCHED = 600
"""In scope, then ranked exactly: the index gives them in an order that is only nearly the right one. Measured in a
tenth of a million: with three hundred, up to one of ten nearest is missed, and these take hardly longer."""
EF_SEARCH = 200
EF_SEARCH_LIMIT = 1000  # of pgvector
MAX_SCAN_TUPLES = 200_000
"""The index goes over all organizations: a scope that is a hundredth of it gets one passage out of a hundred."""

SCAN_MEMORY_MULTIPLIER = 32
"""Times `work_mem`, usually 4 MB. What was passed over is kept until the end, and with the default of 1 a scan gives
up, without a word, long before the tuples above: of a subject that only others have, a quarter was missed."""

# A plan for any knowledge bases and any vector is a bad one for these: a tenth of the speed, after five questions.
_FORCE_CUSTOM_PLAN = text("SELECT set_config('plan_cache_mode', 'force_custom_plan', true)")
# Stops at the document with which the threshold is passed, however many there are.
_EXCEEDS_LIMIT = text("""
    SELECT EXISTS (
        SELECT FROM (
            SELECT sum(total_chunks) OVER (ROWS UNBOUNDED PRECEDING) AS chunks FROM indexed_documents
             WHERE knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND fingerprint = :fingerprint
        ) AS counted WHERE chunks > :threshold
    )
""")
# Without OFFSET 0 the planner takes the HNSW index and filters what it gives: next to nothing (docs/parts.md#vectors).
_EXACT = """
    SELECT document_id, chunk_index, distance FROM (
        SELECT document_id, chunk_index, embedding <=> CAST(:vector AS halfvec) AS distance FROM passages
         WHERE knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND fingerprint = :fingerprint AND model = :model
        OFFSET 0
    ) AS candidates ORDER BY distance, document_id, chunk_index LIMIT :limit OFFSET :skip
"""
_APPROXIMATE = """
    WITH candidates AS MATERIALIZED (
        SELECT document_id, chunk_index, embedding FROM passages
         WHERE knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND fingerprint = :fingerprint AND model = :model
         ORDER BY embedding::halfvec({dimensions}) <=> CAST(:vector AS halfvec({dimensions})) LIMIT :fetched
    ), ranked AS MATERIALIZED (
        SELECT document_id, chunk_index, embedding <=> CAST(:vector AS halfvec) AS distance FROM candidates
    )
    SELECT document_id, chunk_index, distance FROM ranked
     ORDER BY distance, document_id, chunk_index LIMIT :limit OFFSET :skip
"""
# Without sorting, or the planner computes every distance in scope, as if there were no index.
_TUNE_HNSW = text("""
    SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', :ef_search, true),
           set_config('hnsw.max_scan_tuples', :max_scan_tuples, true),
           set_config('hnsw.scan_mem_multiplier', :scan_memory, true), set_config('enable_sort', 'off', true)
""")
_RESTORE_SORT = text("SELECT set_config('enable_sort', 'on', true)")


class PgvectorSearch(VectorSearch):
    """Vector search over the chunks in PostgreSQL: exact in small scopes, by HNSW in large ones."""

    name = "pgvector"

    def __init__(self, database: Database, *, exact_search_limit: int = EXACT_SEARCH_LIMIT) -> None:
        self._database = database
        self._exact_search_limit = exact_search_limit

    async def nearest(
        self,
        work: Work[Any],
        model: IndexingVariant,
        kb_ids: Sequence[UUID],
        vector: Vector,
        *,
        limit: int,
        offset: int = 0,
        scope_size: int | None = None,
    ) -> Sequence[Candidate]:
        scope = {"kb_ids": list(kb_ids), "fingerprint": model.fingerprint}
        wanted = {**scope, "vector": to_halfvec(vector), "limit": limit, "skip": offset}
        await work.session.execute(_FORCE_CUSTOM_PLAN)
        if await self._exceeds_exact_limit(work, scope, scope_size):
            rows = await self._approximate(work, model, wanted)
        else:
            rows = (await work.session.execute(_bind_model(_EXACT, model), wanted)).all()
        return [Candidate(document_id, chunk_index, None, distance) for document_id, chunk_index, distance in rows]

    async def _exceeds_exact_limit(self, work: Work[Any], scope: dict[str, Any], scope_size: int | None) -> bool:
        if scope_size is not None:
            return scope_size > self._exact_search_limit
        return bool(await work.session.scalar(_EXCEEDS_LIMIT, {**scope, "threshold": self._exact_search_limit}))

    async def _approximate(self, work: Work[Any], model: IndexingVariant, wanted: dict[str, Any]) -> Sequence[Any]:
        fetched = max((wanted["skip"] + wanted["limit"]) * OVER_FETCH, MIN_FETCHED)
        ef_search = min(max(EF_SEARCH, fetched), EF_SEARCH_LIMIT)
        bounds = {"max_scan_tuples": str(MAX_SCAN_TUPLES), "scan_memory": str(SCAN_MEMORY_MULTIPLIER)}
        await work.session.execute(_TUNE_HNSW, {"ef_search": str(ef_search), **bounds})
        statement = _bind_model(_APPROXIMATE.format(dimensions=int(model.dimensions)), model)
        rows = (await work.session.execute(statement, {**wanted, "fetched": fetched})).all()
        await work.session.execute(_RESTORE_SORT)
        return rows

    async def check(self) -> str:
        async with self._database.lookup_connection() as connection:
            version = await connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'"))
        if version is None:
            raise Unavailable("The pgvector extension is not installed in the database")
        return f"pgvector {version}"

    async def close(self) -> None:
        """Nothing to do: the database closes its own connections."""


def _bind_model(statement: str, model: IndexingVariant) -> TextClause:
    """Its name as a literal: a prepared statement with a parameter in its place could not use the partial indexes."""
    return text(statement).bindparams(bindparam("model", model.model, literal_execute=True))


def to_halfvec(vector: Vector) -> str:
    """As pgvector reads it."""
    return "[" + ",".join(map(repr, map(float, vector))) + "]"
