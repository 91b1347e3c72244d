from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class Role(StrEnum):
    VIEWER = "viewer"
    EDITOR = "editor"


class HandoverPolicy(StrEnum):
    """When documents of a knowledge base are sent to Paperless."""

    NEVER = "never"
    ON_COMPLETED = "on_completed"
    ON_ARCHIVED = "on_archived"


class KnowledgeBase(Table):
    __tablename__ = "knowledge_bases"
    __table_args__ = (
        CheckConstraint("hand_over_policy IN ('never', 'on_completed', 'on_archived')", name="hand_over_policy_known"),
        UniqueConstraint("id", "organization_id"),
        ForeignKeyConstraint(["owner_id", "organization_id"], ["users.id", "users.organization_id"]),
        Index(None, "organization_id"),
        Index(None, "owner_id"),
    )

    id: Mapped[UUID] = id_column()
    organization_id: Mapped[UUID]
    owner_id: Mapped[UUID]
    name: Mapped[str]
    description: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    leaving_since: Mapped[datetime | None]
    """When its deletion with all documents was requested."""
    hand_over_policy: Mapped[str] = mapped_column(server_default=HandoverPolicy.NEVER)


class Member(Table):
    """A member of a knowledge base. Both foreign keys include the organization, so no member can be of another one."""

    __tablename__ = "knowledge_base_members"
    __table_args__ = (
        ForeignKeyConstraint(
            ["knowledge_base_id", "organization_id"],
            ["knowledge_bases.id", "knowledge_bases.organization_id"],
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(["user_id", "organization_id"], ["users.id", "users.organization_id"]),
        CheckConstraint("role IN ('viewer', 'editor')", name="role_known"),
        Index(None, "user_id"),
    )

    kb_id: Mapped[UUID] = mapped_column("knowledge_base_id", primary_key=True)
    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    role: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()
