from uuid import UUID

from pydantic import BaseModel

from muniment.lifecycle.removal.bulk import BulkPurged
from muniment.lifecycle.removal.knowledge_base import Leaving
from muniment.lifecycle.removal.removing import Ended


class RemovedRead(BaseModel):
    """A document that is gone, proven by its receipt."""

    message: str
    receipt_id: UUID


class BeingRemovedRead(BaseModel):
    """A document that is gone and found by nobody; some stores were not seen empty yet."""

    message: str
    receipt_id: None
    pending: list[str]


def ended_read(ended: Ended, done: str, under_way: str) -> RemovedRead | BeingRemovedRead:
    if ended.receipt_id is not None:
        return RemovedRead(message=done, receipt_id=ended.receipt_id)
    return BeingRemovedRead(message=under_way, receipt_id=None, pending=list(ended.pending))


class BulkPurgedRead(BaseModel):
    purged: int
    skipped: int
    skipped_ids: list[UUID]
    pending_ids: list[UUID]
    failed_ids: list[UUID]
    message: str

    @classmethod
    def of(cls, done: BulkPurged) -> "BulkPurgedRead":
        return cls(
            purged=len(done.purged_ids),
            skipped=len(done.skipped_ids),
            skipped_ids=done.skipped_ids,
            pending_ids=done.pending_ids,
            failed_ids=done.failed_ids,
            message=done.message,
        )


class KnowledgeBaseRemovedRead(BaseModel):
    message: str
    remaining: int
    pending: int
    blocked_ids: list[UUID]

    @classmethod
    def of(cls, leaving: Leaving) -> "KnowledgeBaseRemovedRead":
        counts = {"remaining": leaving.remaining, "pending": leaving.pending, "blocked_ids": leaving.blocked_ids}
        return cls(message=_said(leaving), **counts)


def _said(leaving: Leaving) -> str:
    if leaving.is_gone:
        return "Knowledge base and all its documents permanently deleted"
    if leaving.blocked_ids:
        return (
            "The knowledge base is being removed; some documents are being handed over to the archive: ask again later"
        )
    return "The knowledge base is being removed: ask again to go on"
