"""Two indexes for each embedding model, created by `muniment migrate` (docs/design.md#vector-indexes). Those of the bundled model come with
the tables, those of any other model once it is known.
"""

import hashlib
from collections.abc import Iterator

from psycopg import sql
from sqlalchemy import Connection, text

MAX_HNSW_DIMENSIONS = 4000
"""More of them pgvector does not take as halves."""
MAX_COVERING_DIMENSIONS = 1300
"""Longer ones do not fit into a page of an index a few times, as PostgreSQL wants it: they are read from their rows."""

_BUNDLED_MODEL = "all-MiniLM-L6-v2-int8"
_OTHER_MODELS = text("""
    SELECT model, max(dimensions) FROM indexing_variants WHERE model <> :shipped
     GROUP BY model HAVING count(DISTINCT dimensions) = 1 ORDER BY model
""")
_HNSW_INDEX = sql.SQL("""
    CREATE INDEX IF NOT EXISTS {name} ON artifact_chunks
        USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = {model}
""")
_COVERING_INDEX = sql.SQL("""
    CREATE INDEX IF NOT EXISTS {name} ON artifact_chunks (artifact_text_id, fingerprint)
        INCLUDE (chunk_index, embedding) WHERE model = {model}
""")


def ensure_model_indexes(connection: Connection) -> None:
    """As the owner of the tables."""
    for model, dimensions in connection.execute(_OTHER_MODELS, {"shipped": _BUNDLED_MODEL}).all():
        for statement in _statements(model, dimensions):
            connection.exec_driver_sql(statement)


def _statements(model: str, dimensions: int) -> Iterator[str]:
    of_model = hashlib.sha256(model.encode()).hexdigest()[:16]
    for kind, most, statement in (
        ("hnsw", MAX_HNSW_DIMENSIONS, _HNSW_INDEX),
        ("vectors", MAX_COVERING_DIMENSIONS, _COVERING_INDEX),
    ):
        if dimensions <= most:
            name = sql.Identifier(f"ix_artifact_chunks_{kind}_{of_model}")
            whole = statement.format(name=name, dimensions=sql.Literal(dimensions), model=sql.Literal(model))
            yield whole.as_string().replace("%", "%%")
