"""Check which documents block a name (docs/contracts.md#duplicates, docs/design.md#names), and clear failed uploads.

A constraint decides about active documents. The checks here are for archived and failed ones.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from muniment.audit.events import DocumentAutoCleared
from muniment.audit.receipts.tables import ReceiptMove
from muniment.documents.names import name_key
from muniment.documents.purge import purge
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.errors import Conflict
from muniment.storage.db.principal import SYSTEM, Principal
from muniment.storage.db.work import Work
from muniment.telemetry.metrics import DOCUMENTS_CLEARED, LIFECYCLE_SECONDS

log = structlog.get_logger()

MESSAGES = {Status.ARCHIVED: "An archived document with this name exists"}


MESSAGE = "A document with this name already exists"


class DuplicateDocument(Conflict):
    """A document with this name already exists"""

    def __init__(self, existing: Document) -> None:
        super().__init__(MESSAGES.get(Status(existing.status), MESSAGE))
        self.existing_id = existing.id
        self.body: Mapping[str, Any] = {
            "error": "duplicate_document",
            "existing_document_id": str(existing.id),
            "existing_status": existing.status,
            "message": self.message,
        }


@dataclass(frozen=True)
class AutoCleared:
    """A failed upload that was cleared to free its name, and the ledger entries that delete its data."""

    document_id: UUID
    deletion_ids: Sequence[UUID]
    seconds: float


def report_auto_clears(cleared: Iterable[AutoCleared], kb_id: UUID, user_id: UUID) -> None:
    """Count, time and log what was cleared, like any other clear, once the transaction has committed.

    The status is `pending`: a sweep verifies the stores and signs the receipt.
    """
    for one in cleared:
        DOCUMENTS_CLEARED.inc(kb_id, user_id, auto=True)
        LIFECYCLE_SECONDS.labels("clear", "pending").observe(one.seconds)
        log.info(
            "lifecycle.operation",
            operation="clear",
            kb_id=kb_id,
            document_id=one.document_id,
            user_id=user_id,
            duration_ms=round(one.seconds * 1000, 1),
            status="pending",
            auto=True,
        )


def blocks_name(namesake: Document) -> bool:
    """Return whether an inactive document blocks its name: archived ones do, failed ones only if they once completed.

    A document that never completed has nothing to lose and is cleared automatically.
    """
    return namesake.status == Status.ARCHIVED or namesake.completed_at is not None


async def require_name_available(
    work: Work[Any], kb_id: UUID, key: str, *, except_id: UUID | None = None
) -> Sequence[Document]:
    """Raise `DuplicateDocument` if an inactive document blocks the name; return those that can be cleared, locked.

    `except_id` is the document that is to have the name. It does not block itself.
    """
    locked = await DocumentRepository(work.session).lock_inactive_namesakes(kb_id, key)
    namesakes = [namesake for namesake in locked if namesake.id != except_id]
    if blocking := _find_blocking(namesakes):
        raise DuplicateDocument(blocking)
    return namesakes


def _find_blocking(namesakes: Iterable[Document]) -> Document | None:
    """Return the document to report: an archived one first, because it can be restored."""
    blocking = (namesake for namesake in namesakes if blocks_name(namesake))
    return min(blocking, key=lambda namesake: namesake.status != Status.ARCHIVED, default=None)


async def auto_clear(work: Work[Principal], failed: Document) -> AutoCleared:
    """Purge a failed upload that never completed, in the transaction of the document that takes its name."""
    started = time.perf_counter()
    event = DocumentAutoCleared(failed.id, failed.kb_id, failed.name, uploader=work.caller.user_id)
    purged = await purge(work, failed, ReceiptMove.AUTO_CLEAR, event, actor=SYSTEM)
    return AutoCleared(failed.id, purged.deletion_ids, time.perf_counter() - started)


async def require_name_available_for(work: Work[Any], document: Document, name: str) -> Sequence[Document]:
    """Raise `DuplicateDocument` if another document blocks this name for the given one, as on upload.

    Return the failed documents of that name that can be cleared, locked.
    """
    key = name_key(name)
    active = await DocumentRepository(work.session).find_active(document.kb_id, key)
    if active is not None and active.id != document.id:
        raise DuplicateDocument(active)
    return await require_name_available(work, document.kb_id, key, except_id=document.id)


async def find_name_conflict(work: Work[Any], document: Document, name: str) -> DuplicateDocument | None:
    """Return the error that `require_name_available_for` would raise. No row is locked."""
    documents, key = DocumentRepository(work.session), name_key(name)
    active = await documents.find_active(document.kb_id, key)
    if active is not None and active.id != document.id:
        return DuplicateDocument(active)
    inactive = await documents.list_inactive_namesakes(document.kb_id, key)
    blocking = _find_blocking(namesake for namesake in inactive if namesake.id != document.id)
    return DuplicateDocument(blocking) if blocking else None
