"""Baseline: the statements a search cannot do without, run as the superuser without permissions or views."""

from collections.abc import Sequence
from uuid import UUID

import psycopg

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.vectors.pgvector.search import EXACT_SEARCH_LIMIT, MAX_SCAN_TUPLES

_OF_KBS = "artifact_chunks c JOIN documents d USING (artifact_text_id) WHERE d.knowledge_base_id = ANY (%(kb_ids)s)"
_EXACT = f"""
    WITH near AS MATERIALIZED (
        SELECT d.id, chunk_index, embedding <=> %(vector)s::halfvec AS distance FROM {_OF_KBS}
    ) SELECT id, chunk_index FROM near ORDER BY distance LIMIT 10
"""
_APPROXIMATE = f"""
    SELECT d.id, chunk_index FROM {_OF_KBS} AND model = 'all-MiniLM-L6-v2-int8'
     ORDER BY embedding::halfvec(384) <=> %(vector)s::halfvec(384) LIMIT 10
"""
_WORDS = f"""
    WITH found AS MATERIALIZED (
        SELECT d.id, chunk_index, tsv FROM {_OF_KBS} AND tsv @@ %(words)s::tsquery LIMIT 2000
    ) SELECT id, chunk_index FROM found ORDER BY ts_rank(tsv, %(words)s::tsquery) DESC LIMIT 10
"""
_SETTINGS = f"""
    SET plan_cache_mode = force_custom_plan; SET hnsw.iterative_scan = relaxed_order; SET hnsw.ef_search = 100;
    SET hnsw.max_scan_tuples = {MAX_SCAN_TUPLES};
"""


class BaselineSearch:
    def __init__(self, address: DatabaseAddress) -> None:
        self._connection = psycopg.connect(address.conninfo, autocommit=True)
        for setting in filter(str.strip, _SETTINGS.split(";")):
            self._connection.execute(setting)

    def close(self) -> None:
        self._connection.close()

    def ask(self, kb_ids: Sequence[UUID], vector: Sequence[float], words: str, chunks: int) -> None:
        """Run both halves, one after the other."""
        is_exact = chunks <= EXACT_SEARCH_LIMIT
        self._connection.execute(f"SET enable_sort = {'on' if is_exact else 'off'}")
        asked = {"kb_ids": list(kb_ids), "vector": str(list(vector)), "words": words}
        self._connection.execute(_EXACT if is_exact else _APPROXIMATE, asked).fetchall()
        self._connection.execute("SET enable_sort = on")
        self._connection.execute(_WORDS, asked).fetchall()
