from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from muniment.storage.db.base import Table, created_at_column, id_column


class AuditEvent(Table):
    """A recorded change, written in its transaction and never altered.

    It has no foreign key: it outlives its subject.
    """

    __tablename__ = "audit_events"
    __table_args__ = (
        Index(None, "organization_id", "at"),
        Index(None, "document_id"),
        Index(None, "knowledge_base_id", "at"),
    )

    id: Mapped[UUID] = id_column()
    at: Mapped[datetime] = created_at_column()
    action: Mapped[str]
    actor: Mapped[str]
    organization_id: Mapped[UUID | None]
    kb_id: Mapped[UUID | None] = mapped_column("knowledge_base_id")
    document_id: Mapped[UUID | None]
    address: Mapped[str | None]
    payload: Mapped[dict[str, Any]] = mapped_column(JSONB)


class AuditUnsealed(Table):
    """An event that waits for its seal. Triggers insert and delete the rows, so that no event can be missed."""

    __tablename__ = "audit_unsealed"
    __table_args__ = (Index(None, "chain", "at", "event_id"),)

    event_id: Mapped[UUID] = mapped_column(primary_key=True)
    chain: Mapped[UUID]
    at: Mapped[datetime]
    """Time of the event; a long backlog is sealed in this order, in batches."""


class AuditSeal(Table):
    """Position of one event in its chain (`hashing.py` describes what is hashed), written once."""

    __tablename__ = "audit_seals"
    __table_args__ = (CheckConstraint("seq > 0", name="seq_from_one"),)

    chain: Mapped[UUID] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    event_id: Mapped[UUID] = mapped_column(unique=True)
    salt: Mapped[bytes]
    payload_hash: Mapped[bytes]
    event_hash: Mapped[bytes]
    hash: Mapped[bytes]
    sealed_at: Mapped[datetime]


class AuditHead(Table):
    """A signed head: the chain ended here at this time. A copy is stored outside the database."""

    __tablename__ = "audit_heads"

    chain: Mapped[UUID] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hash: Mapped[bytes]
    at: Mapped[datetime]
    previous_seq: Mapped[int] = mapped_column(BigInteger)
    """Number of the previous head; 0 for the first."""
    key_id: Mapped[str]
    signature: Mapped[bytes]


class AuditKey(Table):
    """A public key that signs or signed. Each vouches for the previous one by its signature and has one successor."""

    __tablename__ = "audit_keys"
    __table_args__ = (UniqueConstraint("previous_key_id", postgresql_nulls_not_distinct=True),)

    key_id: Mapped[str] = mapped_column(primary_key=True)
    public_key: Mapped[bytes]
    previous_key_id: Mapped[str | None] = mapped_column(ForeignKey("audit_keys.key_id"))
    at: Mapped[datetime]
    signature: Mapped[bytes]
