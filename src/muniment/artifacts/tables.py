"""Tables of artifacts, readable by the service login only (docs/contracts.md#artifact-tables)."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from muniment.storage.db.base import Table, created_at_column

KEY_COLUMNS = ("content_hmac", "algorithm_version", "params_fingerprint")


class ContentKeyed:
    """Key columns. The organization is null if all organizations share artifacts (docs/design.md#sharing-scope)."""

    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=text("gen_random_uuid()"))
    organization_id: Mapped[UUID | None]
    content_hmac: Mapped[str]
    algorithm_version: Mapped[int]
    params_fingerprint: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()


class TextArtifact(ContentKeyed, Table):
    """An artifact: its full text. All parts are inserted and deleted together with this row."""

    __tablename__ = "artifacts_full_text"
    __table_args__ = (
        UniqueConstraint(*KEY_COLUMNS, name="uq_artifacts_full_text_key"),
        Index(None, "unreferenced_at", postgresql_where=text("unreferenced_at IS NOT NULL")),
    )

    full_text_uri: Mapped[str]
    full_text_sha256: Mapped[str]
    total_pages: Mapped[int]
    total_words: Mapped[int]
    methods: Mapped[dict[str, Any]]
    """Number of pages per extraction method."""
    timings: Mapped[dict[str, Any] | None]
    problems: Mapped[list[dict[str, Any]]] = mapped_column(JSONB(none_as_null=True), server_default="[]")
    """Pages that could not be processed, with reasons."""
    unreferenced_at: Mapped[datetime | None]
    """When the garbage collection first found it without a reference."""


class ArtifactPart(ContentKeyed):
    """A part of one artifact."""

    position_columns: tuple[str, ...]
    page_number: Mapped[int]

    @declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:  # noqa: N805 a class attribute, computed
        name = cls.__tablename__  # type: ignore[attr-defined]
        return (
            UniqueConstraint(*KEY_COLUMNS, *cls.position_columns, name=f"uq_{name}_key"),
            ForeignKeyConstraint(
                KEY_COLUMNS,
                [f"artifacts_full_text.{column}" for column in KEY_COLUMNS],
                name=f"fk_{name}_of_text",
                ondelete="CASCADE",
            ),
        )


class ArtifactPage(ArtifactPart, Table):
    __tablename__ = "artifact_pages"
    position_columns = ("page_number",)

    page_text_uri: Mapped[str]
    page_text_sha256: Mapped[str]
    layout: Mapped[dict[str, Any] | None]
    metrics: Mapped[dict[str, Any] | None]


class ArtifactParagraph(ArtifactPart, Table):
    __tablename__ = "artifact_paragraphs"
    position_columns = ("page_number", "paragraph_index")

    paragraph_index: Mapped[int]
    paragraph_text_uri: Mapped[str]
    paragraph_text_sha256: Mapped[str]
    features: Mapped[dict[str, Any] | None]


class ArtifactDiagram(ArtifactPart, Table):
    __tablename__ = "artifact_diagrams"
    position_columns = ("page_number", "diagram_key")

    diagram_key: Mapped[str]
    diagram_meta: Mapped[dict[str, Any]]
