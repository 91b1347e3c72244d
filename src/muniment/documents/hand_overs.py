"""What of a document is on its way to the archive. By name and not through its tables: that feature lies above."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_UNFINISHED = text("""
    SELECT r2_object_key, archive_status FROM archive_audit_log
     WHERE bilko_document_id = :id AND archive_status <> 'archived' ORDER BY r2_object_key
""")


@dataclass(frozen=True)
class UnfinishedHandOver:
    job_id: str
    is_pending: bool
    """Otherwise it failed, and may lie among the dead letters."""


async def list_unfinished(session: AsyncSession, document_id: UUID) -> Sequence[UnfinishedHandOver]:
    """Of all its revisions."""
    rows = await session.execute(_UNFINISHED, {"id": document_id})
    return [UnfinishedHandOver(job_id, status == "pending") for job_id, status in rows]
