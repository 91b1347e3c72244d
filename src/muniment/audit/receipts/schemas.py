from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from muniment.audit.receipts.tables import Ending, Receipt


class ReceiptRead(BaseModel):
    """A file of this can be checked offline: `muniment receipt verify`."""

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


class ReceiptListed(BaseModel):
    id: UUID
    move: Ending
    document_id: UUID
    document_name: str
    kb_id: UUID
    by: str
    at: datetime
    signed_at: datetime

    @classmethod
    def of(cls, receipt: Receipt) -> "ReceiptListed":
        assert receipt.signed_at is not None
        return cls(
            id=receipt.id,
            move=Ending(receipt.move),
            document_id=receipt.document_id,
            document_name=receipt.document_name,
            kb_id=receipt.kb_id,
            by=receipt.actor,
            at=receipt.created_at,
            signed_at=receipt.signed_at,
        )
