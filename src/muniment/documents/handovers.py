"""Hand-overs of a document to Paperless: list open ones, cancel one, request one in the transaction of a move.

The hand-over feature is above this one: its records are read through the view `open_handovers`, and it implements the
port `Handovers`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.events import DocumentHandOverSkipped
from muniment.audit.log import AuditLog
from muniment.documents.handover_status import HandoverStatus
from muniment.documents.media_types.types import PDF
from muniment.documents.tables import Document
from muniment.knowledge_bases.tables import HandoverPolicy, KnowledgeBase
from muniment.storage.db.work import Work

_OPEN_HANDOVERS = text("""
    SELECT job_id, archive_status FROM open_handovers WHERE document_id = :id ORDER BY job_id
""")


@dataclass(frozen=True)
class OpenHandover:
    """A hand-over that has not reached Paperless."""

    job_id: str
    is_pending: bool
    """False if it failed and may be a dead letter."""


async def list_open_handovers(session: AsyncSession, document_id: UUID) -> Sequence[OpenHandover]:
    """Return the open hand-overs of all revisions of the document."""
    rows = await session.execute(_OPEN_HANDOVERS, {"id": document_id})
    return [OpenHandover(job_id, status == HandoverStatus.PENDING) for job_id, status in rows]


async def request_handover(work: Work[Any], document_id: UUID, policy: HandoverPolicy) -> None:
    """Request a hand-over if the knowledge base has this policy, in the transaction of the move that the policy names.

    A document that is not a PDF is skipped, with an audit event.
    """
    row = (
        await work.session.execute(
            select(Document.kb_id, Document.name, Document.media_type)
            .join(KnowledgeBase, KnowledgeBase.id == Document.kb_id)
            .where(
                Document.id == document_id,
                Document.archive_status.is_(None),  # neither requested nor handed over already
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
        .values(archive_status=HandoverStatus.PENDING, archive_job_id=None)
        .execution_options(synchronize_session=False)
    )


class Handovers(Protocol):
    """Port to the hand-over feature."""

    async def cancel(self, organization_id: UUID, document_id: UUID, job_id: str) -> None:
        """Cancel a queued job, or raise `Conflict` if the archiver has started it.

        A job that another document waits for is left alone. Idempotent. If the purge that asked for it does not commit,
        the sweep queues the job again.
        """
