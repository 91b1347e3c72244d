"""Which documents block a name (docs/contracts.md#duplicates, docs/design.md#names), and the automatic clear of failed uploads.

A constraint decides about active documents. The checks here are for archived and failed ones, with their rows locked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from muniment.audit.events import DocumentAutoCleared
from muniment.audit.receipts.tables import ReceiptMove
from muniment.documents.names import name_key
from muniment.documents.purge import purge
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.errors import Conflict
from muniment.storage.db.principal import SYSTEM, Principal
from muniment.storage.db.work import Work

MESSAGES = {Status.ARCHIVED: "An archived document with this name exists"}


MESSAGE = "A document with this name already exists"


class DuplicateDocument(Conflict):
    """A document with this name already exists"""

    def __init__(self, existing: Document) -> None:
        super().__init__(MESSAGES.get(Status(existing.status), MESSAGE))
        self.body: Mapping[str, Any] = {
            "error": "duplicate_document",
            "existing_document_id": str(existing.id),
            "existing_status": existing.status,
            "message": self.message,
        }


@dataclass(frozen=True)
class AutoCleared:
    """A failed upload that made way, and the ledger lines that remove its bytes."""

    document_id: UUID
    deletion_ids: Sequence[UUID]


def blocks_name(namesake: Document) -> bool:
    """An archived one is; a failed one only if it once completed, since then there is something to lose."""
    return namesake.status == Status.ARCHIVED or namesake.completed_at is not None


async def require_name_available(
    work: Work[Principal], kb_id: UUID, key: str, *, except_id: UUID | None = None
) -> Sequence[Document]:
    """Refuse if an archived or once completed namesake is in the way; returns the failed ones that are not, held.

    `besides`: the document that is to have the name, which is not in its own way.
    """
    held = await DocumentRepository(work.session).lock_inactive_namesakes(kb_id, key)
    namesakes = [namesake for namesake in held if namesake.id != except_id]
    in_the_way = [namesake for namesake in namesakes if blocks_name(namesake)]
    if in_the_way:
        # Archived before failed: it is the one that people can bring back.
        raise DuplicateDocument(min(in_the_way, key=lambda namesake: namesake.status != Status.ARCHIVED))
    return namesakes


async def auto_clear(work: Work[Principal], failed: Document) -> AutoCleared:
    """Remove a failed upload that never completed, in the transaction of the document that takes its name."""
    event = DocumentAutoCleared(failed.id, failed.kb_id, failed.name, uploader=work.caller.user_id)
    withdrawn = await purge(work, failed, ReceiptMove.AUTO_CLEAR, event, actor=SYSTEM)
    return AutoCleared(failed.id, withdrawn.deletion_ids)


async def require_name_available_for(work: Work[Principal], document: Document, name: str) -> Sequence[Document]:
    """As on upload (`DuplicateDocument`), but no document is in its own way."""
    key = name_key(name)
    active = await DocumentRepository(work.session).find_active(document.kb_id, key)
    if active is not None and active.id != document.id:
        raise DuplicateDocument(active)
    return await require_name_available(work, document.kb_id, key, except_id=document.id)
