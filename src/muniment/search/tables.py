"""Chunks of artifacts with their vectors. Only the service login can use them; users read the view `passages`."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Computed,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    UniqueConstraint,
    func,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import BIT, JSONB, REGCONFIG, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column


class IndexingVariantRow(Table):
    """A model with chunking options. Queries use the active one."""

    __tablename__ = "indexing_variants"
    __table_args__ = (
        Index("uq_indexing_variants_active", "is_active", unique=True, postgresql_where=text("is_active")),
    )

    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    model: Mapped[str]
    dimensions: Mapped[int]
    is_active: Mapped[bool] = mapped_column(server_default=text("false"))
    calibration: Mapped[Any | None] = mapped_column(JSONB)
    """What similarities of the model mean; null until it is measured."""
    created_at: Mapped[datetime] = created_at_column()


class ArtifactIndex(Table):
    """Index of an artifact's text under one variant. Its chunks and vectors are deleted with it.

    The defaults describe what a worker of the previous version inserts: complete, with vectors in the chunks.
    """

    __tablename__ = "artifact_indexes"
    __table_args__ = (
        Index("ix_artifact_indexes_incomplete", "created_at", postgresql_where=text("embedded_at IS NULL")),
        Index("ix_artifact_indexes_vectors_in_chunks", "artifact_text_id", postgresql_where=text("vectors_in_chunks")),
    )

    artifact_text_id: Mapped[UUID] = mapped_column(
        ForeignKey("artifacts_full_text.id", ondelete="CASCADE"), primary_key=True
    )
    fingerprint: Mapped[str] = mapped_column(ForeignKey("indexing_variants.fingerprint"), primary_key=True)
    organization_id: Mapped[UUID | None]
    language: Mapped[str]
    total_chunks: Mapped[int]
    created_at: Mapped[datetime] = created_at_column()
    embedded_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    """When the last of its passages got its vector. Null while vectors are missing."""
    vectors_in_chunks: Mapped[bool] = mapped_column(server_default=text("true"))
    """Whether its vectors are still in `artifact_chunks`, from which they are moved."""
    embedding_error: Mapped[str | None]
    """Why the last attempt to compute vectors failed. Null after a batch that succeeded."""


class ArtifactVector(Table):
    """Vector of a passage. Rows are only inserted, batch by batch in the order of the chunks, and deleted with their
    index: updating a chunk would write its words into the full-text index again."""

    __tablename__ = "artifact_vectors"
    __table_args__ = (
        ForeignKeyConstraint(
            ["artifact_text_id", "fingerprint"],
            ["artifact_indexes.artifact_text_id", "artifact_indexes.fingerprint"],
            name="fk_artifact_vectors_of_index",
            ondelete="CASCADE",
        ),
        Index(
            "ix_artifact_vectors_hnsw_local",
            literal_column("(embedding::halfvec(384))").label("of_model"),
            postgresql_using="hnsw",
            postgresql_ops={"of_model": "halfvec_cosine_ops"},
            postgresql_where=text("model = 'all-MiniLM-L6-v2-int8'"),
        ),
        Index(
            "ix_artifact_vectors_exact_local",
            "artifact_text_id",
            "fingerprint",
            postgresql_include=["chunk_index", "embedding"],
            postgresql_where=text("model = 'all-MiniLM-L6-v2-int8'"),
        ),
    )

    artifact_text_id: Mapped[UUID] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    chunk_index: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID | None]
    model: Mapped[str]
    embedding: Mapped[Any] = mapped_column(HALFVEC)
    sketch: Mapped[Any] = mapped_column(
        BIT(varying=True), Computed("binary_quantize(embedding)::bit varying", persisted=True)
    )
    """The signs of the embedding: a few bytes that a first, coarse comparison reads instead of the whole vector."""


class ArtifactLexicon(Table):
    """The lexical form of an index: how its passages were analyzed. An index without one has the old form."""

    __tablename__ = "artifact_lexicons"
    __table_args__ = (
        ForeignKeyConstraint(
            ["artifact_text_id", "fingerprint"],
            ["artifact_indexes.artifact_text_id", "artifact_indexes.fingerprint"],
            name="fk_artifact_lexicons_of_index",
            ondelete="CASCADE",
        ),
        Index(
            "ix_artifact_lexicons_vocabulary",
            "vocabulary",
            postgresql_using="gin",
            postgresql_ops={"vocabulary": "gin_trgm_ops"},
        ),
    )

    artifact_text_id: Mapped[UUID] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID | None]
    analysis_version: Mapped[int] = mapped_column(index=True)
    language: Mapped[str]
    total_length: Mapped[int] = mapped_column(BigInteger)
    """Sum of the lengths of its passages, for the average length in a scope."""
    vocabulary: Mapped[str]


class ArtifactTerms(Table):
    """The terms of one passage."""

    __tablename__ = "artifact_terms"
    __table_args__ = (
        ForeignKeyConstraint(
            ["artifact_text_id", "fingerprint"],
            ["artifact_lexicons.artifact_text_id", "artifact_lexicons.fingerprint"],
            name="fk_artifact_terms_of_lexicon",
            ondelete="CASCADE",
        ),
        Index(None, "tsv", postgresql_using="gin"),
    )

    artifact_text_id: Mapped[UUID] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    chunk_index: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID | None]
    language: Mapped[str]
    length: Mapped[int]
    """Number of positions that have a term."""
    tsv: Mapped[Any] = mapped_column(TSVECTOR)


class PartialVectors(Table):
    """Vectors that a run of the previous version has left. The embedding of the artifact begins with them."""

    __tablename__ = "partial_vectors"

    artifact_text_id: Mapped[UUID] = mapped_column(
        ForeignKey("artifacts_full_text.id", ondelete="CASCADE"), primary_key=True
    )
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    first_chunk: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID | None]
    vectors: Mapped[bytes] = mapped_column(LargeBinary)
    """Vectors of consecutive chunks from the first one on, in half precision."""
    created_at: Mapped[datetime] = created_at_column()


class ArtifactChunk(Table):
    __tablename__ = "artifact_chunks"
    __table_args__ = (
        UniqueConstraint("artifact_text_id", "fingerprint", "chunk_index", name="uq_artifact_chunks_key"),
        ForeignKeyConstraint(
            ["artifact_text_id", "fingerprint"],
            ["artifact_indexes.artifact_text_id", "artifact_indexes.fingerprint"],
            name="fk_artifact_chunks_of_index",
            ondelete="CASCADE",
        ),
        Index(None, "tsv", postgresql_using="gin"),
        Index(
            "ix_artifact_chunks_hnsw_local",
            literal_column("(embedding::halfvec(384))").label("of_model"),
            postgresql_using="hnsw",
            postgresql_ops={"of_model": "halfvec_cosine_ops"},
            postgresql_where=text("model = 'all-MiniLM-L6-v2-int8'"),
        ),
        Index(
            "ix_artifact_chunks_vectors_local",
            "artifact_text_id",
            "fingerprint",
            postgresql_include=["chunk_index", "embedding"],
            postgresql_where=text("model = 'all-MiniLM-L6-v2-int8'"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=text("gen_random_uuid()"))
    organization_id: Mapped[UUID | None]
    artifact_text_id: Mapped[UUID]
    fingerprint: Mapped[str]
    model: Mapped[str]
    page_number: Mapped[int]
    chunk_index: Mapped[int]
    start_char: Mapped[int]
    end_char: Mapped[int]
    text: Mapped[str]
    language: Mapped[str | None] = mapped_column(REGCONFIG)
    tsv: Mapped[Any | None] = mapped_column(TSVECTOR)
    """Terms of the old form, which workers of the previous version write."""
    embedding: Mapped[Any | None] = mapped_column(HALFVEC)
    """Vector of the old form. No longer written; dropped one version later."""
    created_at: Mapped[datetime] = created_at_column()
