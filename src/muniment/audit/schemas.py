"""Response bodies of the audit log and of receipts."""

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from muniment.audit.receipts.tables import Receipt, ReceiptMove
from muniment.audit.tables import AuditEvent
from muniment.audit.verification import Verdict


class EventRead(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    at: datetime
    action: str
    actor: str
    """The ID of a user, or `system`."""
    organization_id: UUID | None
    kb_id: UUID | None
    document_id: UUID | None
    address: str | None
    payload: dict[str, Any]
    seq: int | None
    """Number in the chain, or null for the few seconds until the event is sealed."""
    sealed: bool

    @classmethod
    def of(cls, event: AuditEvent, seq: int | None) -> "EventRead":
        columns = ("id", "at", "action", "actor", "organization_id", "kb_id", "document_id", "address", "payload")
        return cls(**{name: getattr(event, name) for name in columns}, seq=seq, sealed=seq is not None)


class ProblemRead(BaseModel):
    seq: int | None
    sentence: str


class VerdictRead(BaseModel):
    chain: UUID
    """ID of the organization; all zeros for the installation."""
    is_intact: bool
    events: int
    last_seq: int
    signed_seq: int
    unsealed: int
    problem_count: int
    problems: list[ProblemRead]

    @classmethod
    def of(cls, verdict: Verdict) -> "VerdictRead":
        return cls(**asdict(verdict), is_intact=verdict.is_intact)


class KeyRead(BaseModel):
    key_id: str
    public_key: str
    """Ed25519, in base64."""
    previous_key_id: str | None
    at: datetime
    signature: str
    """Signature by this key over itself and the previous key."""


class KeysRead(BaseModel):
    key_id: str
    """ID of the current key."""
    public_key: str
    keys: list[KeyRead]
    """All keys ever used, oldest first."""


class ReceiptRead(BaseModel):
    """Verify a saved receipt offline with `muniment receipt verify`."""

    id: UUID
    signed_at: datetime
    record: dict[str, Any]
    signature: str
    """Ed25519 over the record as canonical JSON, in base64."""

    @classmethod
    def of(cls, receipt: Receipt) -> "ReceiptRead":
        assert receipt.record is not None
        assert receipt.signature is not None
        assert receipt.signed_at is not None
        return cls(id=receipt.id, signed_at=receipt.signed_at, record=receipt.record, signature=receipt.signature)


class ReceiptPendingRead(BaseModel):
    """A receipt that is not signed yet. Its document is gone for everyone."""

    id: UUID
    message: str
    pending: list[str]
    """Stores that are not verified as empty yet; `receipt` while only the signature is missing."""

    @classmethod
    def of(cls, receipt: Receipt) -> "ReceiptPendingRead":
        message = "The document is deleted. The receipt follows when every store is verified as empty"
        return cls(id=receipt.id, message=message, pending=receipt.pending or ["receipt"])


class ReceiptSummaryRead(BaseModel):
    id: UUID
    move: ReceiptMove
    document_id: UUID
    document_name: str
    kb_id: UUID
    by: str
    at: datetime
    signed_at: datetime

    @classmethod
    def of(cls, receipt: Receipt) -> "ReceiptSummaryRead":
        assert receipt.signed_at is not None
        return cls(
            id=receipt.id,
            move=ReceiptMove(receipt.move),
            document_id=receipt.document_id,
            document_name=receipt.document_name,
            kb_id=receipt.kb_id,
            by=receipt.actor,
            at=receipt.created_at,
            signed_at=receipt.signed_at,
        )
