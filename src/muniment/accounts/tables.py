"""Tables of organizations, users and their credentials. Secrets are stored as hashes only."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, DateTime, ForeignKeyConstraint, Index, LargeBinary, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class Organization(Table):
    __tablename__ = "organizations"

    id: Mapped[UUID] = id_column()
    name: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()


class User(Table):
    """A user of exactly one organization. Users are deactivated, not deleted, because the audit log names them.

    Organizations do not learn about each other's users: the same address in another one is another user.
    """

    __tablename__ = "users"
    __table_args__ = (
        UniqueConstraint("organization_id", "email_key"),
        UniqueConstraint("id", "organization_id"),
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        Index(None, "organization_id"),
        Index(None, "email_key"),
    )

    id: Mapped[UUID] = id_column()
    organization_id: Mapped[UUID]
    email: Mapped[str]
    email_key: Mapped[str]
    # The request login may write this column but not read it; only `find_logins` returns it.
    password_hash: Mapped[str | None] = mapped_column(deferred=True, deferred_raiseload=True)
    is_admin: Mapped[bool] = mapped_column(default=False)
    is_operator: Mapped[bool] = mapped_column(default=False)
    is_active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = created_at_column()


class SignInSession(Table):
    __tablename__ = "sessions"
    __table_args__ = (
        UniqueConstraint("token_hash"),
        ForeignKeyConstraint(["user_id", "organization_id"], ["users.id", "users.organization_id"]),
        Index(None, "user_id"),
    )

    id: Mapped[UUID] = id_column()
    user_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary)
    address: Mapped[str | None]
    created_at: Mapped[datetime] = created_at_column()
    expires_at: Mapped[datetime]


class ApiToken(Table):
    __tablename__ = "api_tokens"
    __table_args__ = (
        UniqueConstraint("token_hash"),
        ForeignKeyConstraint(["user_id", "organization_id"], ["users.id", "users.organization_id"]),
        Index(None, "user_id"),
    )

    id: Mapped[UUID] = id_column()
    user_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    name: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = created_at_column()
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class SignInLink(Table):
    """A one-time sign-in link, for accounts without a password."""

    __tablename__ = "sign_in_links"
    __table_args__ = (ForeignKeyConstraint(["user_id", "organization_id"], ["users.id", "users.organization_id"]),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    created_at: Mapped[datetime] = created_at_column()
    expires_at: Mapped[datetime]


class SignInFailure(Table):
    """Failed sign-ins by (email, address) and by address, both hashed, for throttling."""

    __tablename__ = "sign_in_failures"
    __table_args__ = (CheckConstraint("failures > 0", name="failures_positive"),)

    key: Mapped[str] = mapped_column(primary_key=True)
    failures: Mapped[int]
    last_failed_at: Mapped[datetime] = created_at_column()
    blocked_until: Mapped[datetime | None]


class RateLimitWindow(Table):
    """Times of recent requests that are subject to a rate limit."""

    __tablename__ = "request_times"

    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    operation: Mapped[str] = mapped_column(primary_key=True)
    times: Mapped[list[datetime]] = mapped_column(ARRAY(DateTime(timezone=True)))
