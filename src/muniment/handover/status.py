"""Status and history of the hand-over of one document, for those who may see it.

A document of Muniment is shown to everyone who can see it, and after its purge to everyone who can see its receipt. A
document of another application is shown to every user of the organization, because each of them may submit one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select

from muniment.audit.events import (
    DeadLetterDiscarded,
    DeadLetterExpired,
    DeadLetterRequeued,
    DocumentArchiveConfirmed,
    DocumentArchiveFailed,
    DocumentHandedOver,
)
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.repository import TrailRepository
from muniment.audit.tables import AuditEvent
from muniment.documents.handover_status import HandoverStatus
from muniment.documents.repository import DocumentNotFound
from muniment.documents.tables import Document
from muniment.handover.repository import HandoverRepository
from muniment.handover.tables import HandoverRecord
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, Work

HISTORY_LENGTH = 100
_ACTIONS = tuple(
    event.action
    for event in (
        DocumentHandedOver,
        DocumentArchiveConfirmed,
        DocumentArchiveFailed,
        DeadLetterRequeued,
        DeadLetterDiscarded,
        DeadLetterExpired,
    )
)


@dataclass(frozen=True)
class DocumentHandoverStatus:
    """Hand-over of the current content of a document, and the events of all its contents."""

    document_id: UUID
    status: HandoverStatus
    record: HandoverRecord | None
    """`None` while a requested hand-over waits for its submission."""
    history: Sequence[AuditEvent]
    """The newest events, oldest first."""


async def get_handover_status(database: Database, caller: Principal, document_id: UUID) -> DocumentHandoverStatus:
    """Return the hand-over of a document, or raise `DocumentNotFound` if there is none that the caller may see."""
    async with database.work(caller) as work:
        is_visible = await _belongs_to_muniment(work, document_id)
    # As the service, because a user's own view has neither documents of other applications nor their events.
    async with database.service_work(Service(caller.organization_id)) as service_work:
        if not is_visible and await _belongs_to_muniment(service_work, document_id):
            raise DocumentNotFound
        document = await service_work.session.get(Document, document_id)
        records = await HandoverRepository(service_work.session).list_of_document(document_id)
        history = await TrailRepository(service_work.session).list_of_document(
            document_id, _ACTIONS, limit=HISTORY_LENGTH
        )
    if document is not None and document.archive_status is not None:
        current = next((record for record in records if record.r2_object_key == document.archive_job_id), None)
        return DocumentHandoverStatus(document_id, HandoverStatus(document.archive_status), current, history)
    if not records:
        raise DocumentNotFound
    return DocumentHandoverStatus(document_id, HandoverStatus(records[0].archive_status), records[0], history)


async def _belongs_to_muniment(work: Work[Any], document_id: UUID) -> bool:
    """Return whether the caller of this transaction sees the document, or the receipt of its purge."""
    if await work.session.scalar(select(Document.id).where(Document.id == document_id)) is not None:
        return True
    return await ReceiptRepository(work.session).exists(document_id)
