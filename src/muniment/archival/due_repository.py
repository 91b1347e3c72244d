"""What a sweep sees after: wishes, rows that are due, and the bytes that would have to be handed over again."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.archival.repository import LOOK_AFTER, set_rows
from muniment.archival.tables import ArchiveAudit, ArchiveStatus
from muniment.documents.tables import Document

_HOLDS_ORIGINAL = text("""
    EXISTS (SELECT FROM documents d
             WHERE d.organization_id = archive_audit_log.organization_id AND d.sha256 = archive_audit_log.sha256)
""")


class DueRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def take_due(self, *, limit: int) -> Sequence[ArchiveAudit]:
        """Rows that are to be seen after, for this attempt; nobody else takes them before the next."""
        due = select(ArchiveAudit.id).where(ArchiveAudit.next_attempt_at <= func.now())
        due = due.order_by(ArchiveAudit.next_attempt_at).limit(limit).with_for_update(skip_locked=True)
        taken = await self._session.scalars(
            update(ArchiveAudit)
            .where(ArchiveAudit.id.in_(due))
            .values(next_attempt_at=func.now() + LOOK_AFTER)
            .returning(ArchiveAudit)
        )
        return taken.all()

    async def list_wishes(self, *, limit: int) -> Sequence[UUID]:
        """Documents of ours that are to be handed over and that nobody has taken in hand."""
        waiting = select(Document.id).where(
            Document.archive_status == ArchiveStatus.PENDING, Document.archive_job_id.is_(None)
        )
        return (await self._session.scalars(waiting.order_by(Document.id).limit(limit))).all()

    async def find_archived(self, sha256: str) -> ArchiveAudit | None:
        """A proof that the archive has these bytes of this organization."""
        proven = select(ArchiveAudit).where(
            ArchiveAudit.sha256 == sha256,
            ArchiveAudit.archive_status == ArchiveStatus.ARCHIVED,
            ArchiveAudit.paperless_doc_id.is_not(None),
        )
        return await self._session.scalar(proven.order_by(ArchiveAudit.archived_at).limit(1))

    async def close(self, row_id: UUID, proven: ArchiveAudit) -> None:
        """End a row with the copy that another one was proven by."""
        await set_rows(
            self._session,
            ArchiveAudit.id == row_id,
            archive_status=ArchiveStatus.ARCHIVED,
            paperless_doc_id=proven.paperless_doc_id,
            paperless_doc_url=proven.paperless_doc_url,
            archived_at=func.now(),
            last_error=None,
            next_attempt_at=None,
        )

    async def give_up(self, row_id: UUID, error: str | None) -> None:
        """It is failed, and nothing is tried without somebody's wish."""
        values: dict[str, Any] = {"archive_status": ArchiveStatus.FAILED, "next_attempt_at": None}
        await set_rows(
            self._session, ArchiveAudit.id == row_id, **values, last_error=func.coalesce(error, ArchiveAudit.last_error)
        )

    async def find_original(self, sha256: str) -> Document | None:
        """A document of ours that has these bytes now."""
        return await self._session.scalar(
            select(Document).where(Document.sha256 == sha256).order_by(Document.id).limit(1)
        )

    async def find_document(self, document_id: UUID, sha256: str) -> Document | None:
        """The document itself, if it still has these bytes."""
        return await self._session.scalar(select(Document).where(Document.id == document_id, Document.sha256 == sha256))

    async def hasten_failed(self) -> int:
        """What failed and can be handed over again from an original of ours is due now; how many."""
        due = update(ArchiveAudit).where(
            ArchiveAudit.archive_status == ArchiveStatus.FAILED,
            or_(ArchiveAudit.next_attempt_at.is_(None), ArchiveAudit.next_attempt_at > func.now()),
            _HOLDS_ORIGINAL,
        )
        hastened = await self._session.scalars(
            due.values(next_attempt_at=func.now())
            .returning(ArchiveAudit.id)
            .execution_options(synchronize_session=False)
        )
        return len(hastened.all())
