"""A knowledge base may want its documents in the archive: the wish is written with the move, and carried out later."""

from typing import Any
from uuid import UUID

from sqlalchemy import select, update

from muniment.audit.events import DocumentHandOverSkipped
from muniment.audit.log import AuditLog
from muniment.documents.media_types import PDF
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandOverPolicy, KnowledgeBase
from muniment.storage.db.work import Work

PENDING = "pending"


async def wish_hand_over(work: Work[Any], document_id: UUID, policy: HandOverPolicy) -> None:
    """In the transaction of the move that `policy` names: if the knowledge base asks for it, the document waits to be
    handed over from now on. One that is no PDF is skipped, with a line in the audit trail."""
    row = (
        await work.session.execute(
            select(Document.kb_id, Document.name, Document.media_type)
            .join(KnowledgeBase, KnowledgeBase.id == Document.kb_id)
            .where(
                Document.id == document_id,
                Document.archive_status.is_(None),  # not on its way, and not there already
                KnowledgeBase.hand_over_policy == policy,
                KnowledgeBase.leaving_since.is_(None),
            )
        )
    ).one_or_none()
    if row is None:
        return
    if row.media_type != PDF.media_type:
        skipped = DocumentHandOverSkipped(document_id, row.kb_id, row.name, media_type=row.media_type)
        await AuditLog(work).record(skipped)
        return
    await work.session.execute(
        update(Document)
        .where(Document.id == document_id)
        .values(archive_status=PENDING, archive_job_id=None)
        .execution_options(synchronize_session=False)
    )
