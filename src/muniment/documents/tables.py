"""Tables of documents, their revisions and uploads in progress."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from muniment.artifacts.tables import TextArtifact
from muniment.storage.db.base import Table, created_at_column, id_column


class Status(StrEnum):
    """Status of a document in its lifecycle (docs/design.md#state-machine)."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    ARCHIVED = "archived"


ACTIVE = (Status.PENDING, Status.PROCESSING, Status.COMPLETED)


class DocumentType(StrEnum):
    """Type of a document, chosen on upload. The values are stored and appear in the API."""

    INVOICE = "invoice"
    CONTRACT = "contract"
    CARE_PLAN = "care_plan"
    INCIDENT_REPORT = "incident_report"
    ONBOARDING = "onboarding"
    OTHER = "other"


_HAS_ARTIFACT = text("artifact_text_id IS NOT NULL")


def _one_of(column: str, values: type[StrEnum]) -> str:
    return f"{column} IN ({', '.join(repr(str(value)) for value in values)})"


class Document(Table):
    """A named document in a knowledge base.

    Its id survives a replace. Its epoch is incremented by each move that must stop older workers
    (docs/design.md#epochs).
    """

    __tablename__ = "documents"
    __table_args__ = (
        ForeignKeyConstraint(
            ["knowledge_base_id", "organization_id"], ["knowledge_bases.id", "knowledge_bases.organization_id"]
        ),
        ForeignKeyConstraint(["uploaded_by", "organization_id"], ["users.id", "users.organization_id"]),
        UniqueConstraint("id", "organization_id"),
        CheckConstraint(_one_of("status", Status), name="status_known"),
        CheckConstraint(_one_of("document_type", DocumentType), name="document_type_known"),
        CheckConstraint(
            "processing_status IN ('processing', 'basic_complete', 'analysis_complete', 'failed')",
            name="processing_status_known",
        ),
        CheckConstraint("archive_status IN ('pending', 'archived', 'failed')", name="archive_status_known"),
        # One active document of a name in a knowledge base: a check before the insert could not guarantee that.
        Index(
            "uq_documents_active_name",
            "knowledge_base_id",
            "path_key",
            "name_key",
            unique=True,
            postgresql_where=text("status IN ('pending', 'processing', 'completed')"),
        ),
        Index("idx_documents_kb_name_key", "knowledge_base_id", "name_key"),
        Index("idx_documents_kb_created", "knowledge_base_id", "created_at", "id"),
        Index("idx_documents_archived_at", "archived_at", postgresql_where=text("archived_at IS NOT NULL")),
        Index(
            "idx_documents_archive",
            "organization_id",
            "archived_at",
            "id",
            postgresql_include=["knowledge_base_id"],
            postgresql_where=text("status = 'archived'"),
        ),
        Index(
            "idx_documents_kb_archive",
            "knowledge_base_id",
            "archived_at",
            "id",
            postgresql_where=text("status = 'archived'"),
        ),
        Index(None, "artifact_text_id", postgresql_where=_HAS_ARTIFACT),
        Index(
            "ix_documents_to_hand_over",
            "organization_id",
            postgresql_where=text("archive_status = 'pending' AND archive_job_id IS NULL"),
        ),
        Index(
            "ix_documents_archive_job_id",
            "organization_id",
            "archive_job_id",
            postgresql_where=text("archive_job_id IS NOT NULL"),
        ),
        Index(
            "ix_documents_on_their_way",
            "organization_id",
            "archive_job_id",
            postgresql_where=text("archive_job_id IS NOT NULL AND archive_status <> 'archived'"),
        ),
        Index("ix_documents_completed", "organization_id", "id", postgresql_where=text("status = 'completed'")),
        Index("ix_documents_sha256", "sha256", postgresql_include=["organization_id"]),
        Index("ix_documents_unfinished", "created_at", postgresql_where=text("status IN ('pending', 'processing')")),
    )

    id: Mapped[UUID] = id_column()
    organization_id: Mapped[UUID]
    kb_id: Mapped[UUID] = mapped_column("knowledge_base_id")
    name: Mapped[str]
    path_key: Mapped[str] = mapped_column(server_default="")
    """Key of the folder. There are no folders yet, so it is empty."""
    name_key: Mapped[str]
    document_type: Mapped[str]
    status: Mapped[str] = mapped_column(default=Status.PENDING)
    epoch: Mapped[int] = mapped_column(default=1)
    revision: Mapped[int] = mapped_column(default=1)
    media_type: Mapped[str]
    original_uri: Mapped[str]
    file_size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    content_hmac: Mapped[str]
    uploaded_by: Mapped[UUID]
    last_error: Mapped[str | None]
    processing_status: Mapped[str | None]
    processing_errors: Mapped[list[dict[str, Any]] | None] = mapped_column(JSONB(none_as_null=True))
    processing_started_at: Mapped[datetime | None]
    processing_completed_at: Mapped[datetime | None]
    artifact_text_id: Mapped[UUID | None] = mapped_column(ForeignKey(TextArtifact.id))
    """The text it shows. A real foreign key, so that garbage collection cannot delete it."""
    index_epoch: Mapped[int | None]
    """Epoch of the run whose copies in an external index are valid."""
    total_pages: Mapped[int | None]
    total_word_count: Mapped[int | None]
    text_extraction_method: Mapped[str | None]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    completed_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]
    archive_status: Mapped[str | None]
    """Status of its hand-over to Paperless. Null if it was never requested."""
    archive_job_id: Mapped[str | None]
    paperless_doc_url: Mapped[str | None]
    handed_over_at: Mapped[datetime | None]


class Revision(Table):
    """One version of a document's content."""

    __tablename__ = "document_revisions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["document_id", "organization_id"], ["documents.id", "documents.organization_id"], ondelete="CASCADE"
        ),
        CheckConstraint("(failure IS NULL) = (expires_at IS NULL)", name="failed_ones_expire"),
        Index(None, "artifact_text_id", postgresql_where=_HAS_ARTIFACT),
        Index("ix_document_revisions_usage", "organization_id", "document_id", postgresql_include=["file_size"]),
        Index(None, "expires_at", postgresql_where=text("expires_at IS NOT NULL")),
    )

    document_id: Mapped[UUID] = mapped_column(primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    name: Mapped[str]
    media_type: Mapped[str]
    original_uri: Mapped[str]
    file_size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    content_hmac: Mapped[str]
    uploaded_by: Mapped[UUID]
    created_at: Mapped[datetime] = created_at_column()
    artifact_text_id: Mapped[UUID | None] = mapped_column(ForeignKey(TextArtifact.id))
    snapshot: Mapped[dict[str, Any] | None] = mapped_column("shelved", JSONB(none_as_null=True))
    """The document's columns when its last completed revision was replaced, to revert to it. Null if there is none."""
    failure: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """Why a replacement with this content failed: `code`, `message` and `at`. Null for every other revision."""
    expires_at: Mapped[datetime | None]
    """When the content of a failed replacement is deleted."""


class Upload(Table):
    """An upload in progress. The row is written before the first byte, and deleting it claims the stored object."""

    __tablename__ = "uploads"
    __table_args__ = (
        UniqueConstraint("blob_key"),
        Index(None, "expires_at"),
    )

    id: Mapped[UUID] = id_column()
    organization_id: Mapped[UUID]
    kb_id: Mapped[UUID] = mapped_column("knowledge_base_id")
    document_id: Mapped[UUID]
    blob_key: Mapped[str]
    uploaded_by: Mapped[UUID]
    created_at: Mapped[datetime] = created_at_column()
    expires_at: Mapped[datetime]
