"""Tables of the hand-over: its audit log and the cached Paperless ids of each organization."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column


class Priority(StrEnum):
    """Priority of a job. It is stored but has no effect yet: the archiver takes the oldest job first."""

    NORMAL = "NORMAL"
    HIGH = "HIGH"


class HandoverRecord(Table):
    """Hand-over of one content of one document (docs/contracts.md#archive-audit-log).

    It has no foreign key to a document: other applications hand over their own, and a copy in Paperless remains when
    its document is purged.
    """

    __tablename__ = "archive_audit_log"
    __table_args__ = (
        UniqueConstraint(
            "organization_id", "bilko_document_id", "r2_object_key", name="uq_archive_audit_log_document_key"
        ),
        CheckConstraint("archive_status IN ('pending', 'archived', 'failed')", name="archive_status_known"),
        CheckConstraint("priority IN ('NORMAL', 'HIGH')", name="priority_known"),
        Index("idx_archive_audit_log_org", "organization_id"),
        Index("idx_archive_audit_log_doc", "bilko_document_id"),
        Index("idx_archive_audit_log_status", "archive_status", postgresql_where=text("archive_status != 'archived'")),
        Index("ix_archive_audit_log_key", "organization_id", "r2_object_key"),
        Index("ix_archive_audit_log_sha256", "organization_id", "sha256"),
        Index(
            "ix_archive_audit_log_due",
            "organization_id",
            "next_attempt_at",
            postgresql_where=text("next_attempt_at IS NOT NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=text("gen_random_uuid()"))
    organization_id: Mapped[UUID] = mapped_column(ForeignKey("organizations.id"))
    bilko_document_id: Mapped[UUID]
    document_type: Mapped[str] = mapped_column(String(50))
    """With underscores."""
    r2_object_key: Mapped[str]
    sha256: Mapped[str]
    archive_status: Mapped[str] = mapped_column(String(20), server_default="pending")
    paperless_doc_id: Mapped[int | None]
    paperless_doc_url: Mapped[str | None]
    archived_at: Mapped[datetime | None]
    retry_count: Mapped[int] = mapped_column(server_default="0")
    last_error: Mapped[str | None]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    details: Mapped[dict[str, Any]] = mapped_column("metadata", server_default=text("'{}'"))
    """Metadata of the producer: `invoiceNumber`, `contractId` and others."""
    priority: Mapped[str] = mapped_column(String(10), server_default="NORMAL")
    attempts: Mapped[int] = mapped_column(server_default="0")
    """Consecutive attempts to queue it."""
    next_attempt_at: Mapped[datetime | None]
    """Time at which the sweep verifies that it is queued, or tries again. Null if there is nothing to do, or nothing
    that is possible without its producer."""
    belongs_to_document: Mapped[bool] = mapped_column(server_default="true")
    """Whether the document of this id is ours and was handed over by someone with permission on it. Only then its purge
    waits for the hand-over, or cancels it."""


class OrganizationPaperlessIds(Table):
    """Paperless ids of an organization (docs/contracts.md#org-paperless-cache)."""

    __tablename__ = "org_paperless_cache"

    organization_id: Mapped[UUID] = mapped_column(ForeignKey("organizations.id"), primary_key=True)
    paperless_correspondent_id: Mapped[int]
    paperless_org_tag_id: Mapped[int]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
