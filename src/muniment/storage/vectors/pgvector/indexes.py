"""Two indexes for each embedding model, created by `muniment migrate` (docs/design.md#vector-indexes). Those of the
bundled model come with the tables, those of any other model once it is known.
"""

import hashlib
from collections.abc import Iterator

from psycopg import sql
from sqlalchemy import Connection, text

MAX_HNSW_DIMENSIONS = 4000
"""Limit of pgvector for an HNSW index on half-precision vectors."""
MAX_COVERING_DIMENSIONS = 1300
"""PostgreSQL requires that an index page holds several entries. Longer vectors do not fit and are read from their
rows."""

_BUNDLED_MODEL = "all-MiniLM-L6-v2-int8"
_OTHER_MODELS = text("""
    SELECT model, dimensions FROM list_embedding_models() WHERE model <> :bundled ORDER BY model
""")
_HNSW_INDEX = sql.SQL("""
    CREATE INDEX IF NOT EXISTS {name} ON artifact_vectors
        USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = {model}
""")
_COVERING_INDEX = sql.SQL("""
    CREATE INDEX IF NOT EXISTS {name} ON artifact_vectors (artifact_text_id, fingerprint)
        INCLUDE (chunk_index, embedding) WHERE model = {model}
""")


def ensure_model_indexes(connection: Connection) -> None:
    """Create missing indexes of all known models, as the owner of the tables."""
    for model, dimensions in connection.execute(_OTHER_MODELS, {"bundled": _BUNDLED_MODEL}).all():
        for statement in _statements(model, dimensions):
            connection.exec_driver_sql(statement)


def _statements(model: str, dimensions: int) -> Iterator[str]:
    suffix = hashlib.sha256(model.encode()).hexdigest()[:16]
    for kind, max_dimensions, statement in (
        ("hnsw", MAX_HNSW_DIMENSIONS, _HNSW_INDEX),
        ("exact", MAX_COVERING_DIMENSIONS, _COVERING_INDEX),
    ):
        if dimensions <= max_dimensions:
            name = sql.Identifier(f"ix_artifact_vectors_{kind}_{suffix}")
            created = statement.format(name=name, dimensions=sql.Literal(dimensions), model=sql.Literal(model))
            yield created.as_string().replace("%", "%%")
