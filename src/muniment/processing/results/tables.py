"""Links from documents to the parts of their artifacts, with annotations (docs/contracts.md#document-tables)."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, PrimaryKeyConstraint, func
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from muniment.storage.db.base import Table, created_at_column


class DocumentPart:
    """A part of a document. Its annotations survive every reread; `stale_at` is when its text disappeared."""

    artifact_column: str
    position_columns: tuple[str, ...] = ()

    document_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    page_number: Mapped[int]
    annotations: Mapped[dict[str, Any] | None]
    stale_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())

    @declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:  # noqa: N805 a class attribute, computed
        return (
            PrimaryKeyConstraint("document_id", "page_number", *cls.position_columns),
            ForeignKeyConstraint(
                ["document_id", "organization_id"], ["documents.id", "documents.organization_id"], ondelete="CASCADE"
            ),
            CheckConstraint(f"{cls.artifact_column} IS NOT NULL OR stale_at IS NOT NULL", name="has_a_place"),
        )


class DocumentPage(DocumentPart, Table):
    __tablename__ = "document_pages"
    artifact_column = "artifact_page_id"

    artifact_page_id: Mapped[UUID | None]
    flags: Mapped[dict[str, Any] | None]


class DocumentParagraph(DocumentPart, Table):
    """Annotated paragraphs only; the hash of the text finds a paragraph again after a reread."""

    __tablename__ = "document_paragraphs"
    artifact_column = "artifact_paragraph_id"
    position_columns = ("paragraph_index",)

    paragraph_index: Mapped[int]
    artifact_paragraph_id: Mapped[UUID | None]
    paragraph_text_sha256: Mapped[str]


class DocumentDiagram(DocumentPart, Table):
    __tablename__ = "document_diagrams"
    artifact_column = "artifact_diagram_id"
    position_columns = ("diagram_key",)

    diagram_key: Mapped[str]
    artifact_diagram_id: Mapped[UUID | None]
