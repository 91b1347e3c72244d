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
from muniment.storage.vectors.port import Candidate, DocumentCondition, IndexingVariant, Vector, VectorSearch

EXACT_SEARCH_LIMIT = 200_000
"""Number of chunks in scope up to which all are compared, with recall 1. Larger scopes use the HNSW index. With the
vectors in a covering index (`indexes.py`) the exact search takes 1 ms per 1,000 chunks. With 100,000 chunks HNSW takes
as long, up to five times longer for rare subjects, and misses one or two of the ten nearest."""
OVER_FETCH = 3
MIN_FETCHED = 600
"""Candidates in scope that are fetched and then ranked exactly, because HNSW returns them in approximate order.
Measured with 100,000 chunks: with 300, up to one of the ten nearest is missed, and 600 take hardly longer."""
EF_SEARCH = 200
EF_SEARCH_LIMIT = 1000  # of pgvector
MAX_SCAN_TUPLES = 200_000
"""The index covers all organizations: a scope of one hundredth of it gets one passage out of a hundred."""

SCAN_MEMORY_MULTIPLIER = 32
"""Multiple of `work_mem`, usually 4 MB. Skipped tuples are kept until the end of the scan, and with the default of 1 it
ends silently long before `MAX_SCAN_TUPLES`: a quarter was missed where most matches belonged to others."""

# PostgreSQL would switch to a generic plan after five executions, which is ten times slower.
_FORCE_CUSTOM_PLAN = text("SELECT set_config('plan_cache_mode', 'force_custom_plan', true)")
# Stops at the document that exceeds the threshold, however many follow.
_EXCEEDS_LIMIT = text("""
    SELECT EXISTS (
        SELECT FROM (
            SELECT sum(total_chunks) OVER (ROWS UNBOUNDED PRECEDING) AS chunks FROM indexed_documents
             WHERE knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND fingerprint = :fingerprint
        ) AS counted WHERE chunks > :threshold
    )
""")
# Without OFFSET 0 the planner uses the HNSW index and filters its results, which leaves next to nothing.
_EXACT = """
    SELECT document_id, chunk_index, distance FROM (
        SELECT document_id, chunk_index, embedding <=> CAST(:vector AS halfvec) AS distance FROM passage_vectors
         WHERE knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND fingerprint = :fingerprint AND model = :model
         {documents} OFFSET 0
    ) AS candidates ORDER BY distance, document_id, chunk_index LIMIT :limit OFFSET :skip
"""
# A function, because a condition of ours cannot reach the index through the view `passage_vectors`.
_APPROXIMATE = text("""
    SELECT document_id, chunk_index, distance FROM nearest_passages(
        CAST(:kb_ids AS uuid[]), :fingerprint, :model, :dimensions, CAST(:vector AS halfvec), :fetched)
     ORDER BY distance, document_id, chunk_index LIMIT :limit OFFSET :skip
""")
# Sorting is disabled, because the planner would otherwise compute every distance in scope and ignore the index.
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
        documents: DocumentCondition | None = None,
    ) -> Sequence[Candidate]:
        scope = {"kb_ids": list(kb_ids), "fingerprint": model.fingerprint}
        parameters = {**scope, "vector": to_halfvec(vector), "limit": limit, "skip": offset}
        await work.session.execute(_FORCE_CUSTOM_PLAN)
        if await self._exceeds_exact_limit(work, scope, scope_size):
            rows = await self._approximate(work, model, parameters)
        else:
            rows = await self._exact(work, model, parameters, documents)
        return [Candidate(document_id, chunk_index, None, distance) for document_id, chunk_index, distance in rows]

    async def _exceeds_exact_limit(self, work: Work[Any], scope: dict[str, Any], scope_size: int | None) -> bool:
        if scope_size is not None:
            return scope_size > self._exact_search_limit
        return bool(await work.session.scalar(_EXCEEDS_LIMIT, {**scope, "threshold": self._exact_search_limit}))

    async def _exact(
        self, work: Work[Any], model: IndexingVariant, parameters: dict[str, Any], documents: DocumentCondition | None
    ) -> Sequence[Any]:
        statement = _EXACT.format(documents=documents.sql if documents else "")
        of_documents = documents.parameters if documents else {}
        return (await work.session.execute(_bind_model(statement, model), {**parameters, **of_documents})).all()

    async def _approximate(self, work: Work[Any], model: IndexingVariant, parameters: dict[str, Any]) -> Sequence[Any]:
        fetched = max((parameters["skip"] + parameters["limit"]) * OVER_FETCH, MIN_FETCHED)
        ef_search = min(max(EF_SEARCH, fetched), EF_SEARCH_LIMIT)
        bounds = {"max_scan_tuples": str(MAX_SCAN_TUPLES), "scan_memory": str(SCAN_MEMORY_MULTIPLIER)}
        await work.session.execute(_TUNE_HNSW, {"ef_search": str(ef_search), **bounds})
        of_model = {"model": model.model, "dimensions": model.dimensions}
        rows = (await work.session.execute(_APPROXIMATE, {**parameters, **of_model, "fetched": fetched})).all()
        await work.session.execute(_RESTORE_SORT)
        return rows

    async def check(self) -> str:
        async with self._database.lookup_connection() as connection:
            version = await connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'"))
        if version is None:
            raise Unavailable("The pgvector extension is not installed in the database")
        return f"pgvector {version}"

    async def close(self) -> None:
        """Do nothing: the database closes its own connections."""


def _bind_model(statement: str, model: IndexingVariant) -> TextClause:
    """Bind the name of the model as a literal: with a parameter, a prepared statement could not use partial indexes."""
    return text(statement).bindparams(bindparam("model", model.model, literal_execute=True))


def to_halfvec(vector: Vector) -> str:
    """Format a vector as pgvector reads it."""
    return "[" + ",".join(map(repr, map(float, vector))) + "]"
