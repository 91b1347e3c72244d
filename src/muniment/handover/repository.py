"""Queries on hand-over records, within the organization of the service."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, literal_column, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.handover_status import HandoverStatus
from muniment.documents.tables import Document
from muniment.errors import NotFound
from muniment.handover.internal.contract import JobStatusUpdate
from muniment.handover.job_key import JobKey, to_underscores
from muniment.handover.tables import HandoverRecord, Priority

RECHECK_INTERVAL = timedelta(hours=1)
"""When the sweep sees after a job that was put into the queue, and again."""


_ORGANIZATION_NAME = text("SELECT name FROM organizations WHERE id = :id")


_FIND_STATUS = text("""
    SELECT name, (SELECT archive_status FROM archive_audit_log a WHERE a.organization_id = o.id
                     AND a.bilko_document_id = :document_id AND a.r2_object_key = :key)
      FROM organizations o WHERE id = :id
""")


_IS_PURGED = text("SELECT EXISTS (SELECT FROM receipts WHERE document_id = :id)")


_SYNC_DOCUMENTS = """
    UPDATE documents d SET archive_status = a.archive_status, paperless_doc_url = a.paperless_doc_url,
                           handed_over_at = a.archived_at
      FROM archive_audit_log a
     WHERE a.bilko_document_id = d.id AND a.organization_id = d.organization_id AND a.r2_object_key = d.archive_job_id
       AND (d.archive_status, d.paperless_doc_url, d.handed_over_at)
           IS DISTINCT FROM (a.archive_status::text, a.paperless_doc_url, a.archived_at)
"""


_SYNC_DOCUMENTS_OF_KEY = text(f"{_SYNC_DOCUMENTS} AND d.archive_job_id = :key")


# What is archived stays so; and there may be a hundred thousand of them.
_SYNC_OPEN_DOCUMENTS = text(f"{_SYNC_DOCUMENTS} AND d.archive_job_id IS NOT NULL AND d.archive_status <> 'archived'")


class OrganizationUnknown(NotFound):
    """Organization not found"""


@dataclass(frozen=True)
class HandoverJob:
    """What is to be archived: which document, and where it lies in the queue."""

    key: JobKey
    document_id: UUID
    details: dict[str, str | None] = field(default_factory=dict)
    priority: Priority = Priority.NORMAL


@dataclass(frozen=True)
class OpenedRecord:
    status: HandoverStatus
    """`archived` where nothing is to be done any more."""
    is_new: bool
    """It was not on its way already."""
    organization_name: str
    submitted_at: datetime
    """Of the first hand-over."""


class HandoverRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get_organization_name(self, organization_id: UUID) -> str:
        name: str | None = await self._session.scalar(_ORGANIZATION_NAME, {"id": organization_id})
        if name is None:
            raise OrganizationUnknown
        return name

    async def open(self, job: HandoverJob) -> OpenedRecord:
        """Note that the document is on its way. One that was archived under this key stays so."""
        values = {"id": job.key.organization_id, "document_id": job.document_id, "key": job.key.pdf}
        found = (await self._session.execute(_FIND_STATUS, values)).one_or_none()
        if found is None:
            raise OrganizationUnknown
        name, before = found
        again = {
            "archive_status": HandoverStatus.PENDING,
            "last_error": None,
            "next_attempt_at": func.now() + RECHECK_INTERVAL,
            "updated_at": func.now(),
        }
        added = insert(HandoverRecord).values(
            organization_id=job.key.organization_id,
            bilko_document_id=job.document_id,
            document_type=to_underscores(job.key.document_type),
            r2_object_key=job.key.pdf,
            sha256=job.key.sha256,
            details=job.details,
            priority=job.priority,
            next_attempt_at=func.now() + RECHECK_INTERVAL,
        )
        begun = await self._session.execute(
            added.on_conflict_do_update(
                constraint="uq_archive_audit_log_document_key",
                set_=again,
                where=HandoverRecord.archive_status != HandoverStatus.ARCHIVED,
            ).returning(HandoverRecord.created_at)
        )
        at = begun.scalar()
        is_on_its_way = before in (HandoverStatus.PENDING, HandoverStatus.ARCHIVED)
        status = HandoverStatus.ARCHIVED if at is None else HandoverStatus.PENDING
        return OpenedRecord(
            status, is_new=not is_on_its_way, organization_name=name, submitted_at=at or await self._now()
        )

    async def mark_failed(self, document_id: UUID, key: JobKey, error: str, *, will_retry: bool) -> None:
        """It could not be put into the queue; the sweep tries again (after 1 minute, doubling to 1 hour) or nobody."""
        minutes = func.least(60, func.power(2, func.least(6, HandoverRecord.attempts)))
        again = func.now() + minutes * literal_column("interval '1 minute'") if will_retry else None
        await update_records(
            self._session,
            *_matches(document_id, key),
            archive_status=HandoverStatus.FAILED,
            last_error=error,
            attempts=HandoverRecord.attempts + 1,
            next_attempt_at=again,
        )

    async def apply_status(
        self, document_id: UUID, key: JobKey, status_update: JobStatusUpdate
    ) -> Sequence[HandoverRecord]:
        """Note it on every row of this key, and on one for `document_id` that its producer did not make; those that
        it changed the status of. What was proven to be archived stays so."""
        await self._add_if_missing(document_id, key)
        values = vars(status_update) | {"archive_status": status_update.status, "next_attempt_at": None}
        if status_update.status is HandoverStatus.PENDING:
            values["next_attempt_at"] = func.now() + RECHECK_INTERVAL
        of_key = (HandoverRecord.organization_id == key.organization_id, HandoverRecord.r2_object_key == key.pdf)
        rows = await self._session.scalars(select(HandoverRecord).where(*of_key).with_for_update())
        changed = [row for row in rows if row.archive_status not in (HandoverStatus.ARCHIVED, status_update.status)]
        del values["status"]
        may_change = (
            ()
            if status_update.status is HandoverStatus.ARCHIVED
            else (HandoverRecord.archive_status != HandoverStatus.ARCHIVED,)
        )
        await update_records(self._session, *of_key, *may_change, **values)
        await self._session.execute(_SYNC_DOCUMENTS_OF_KEY, {"key": key.pdf})
        return changed

    async def _add_if_missing(self, document_id: UUID, key: JobKey) -> None:
        # A document of ours that was purged while others with its bytes wait: nothing more is written about it.
        if await self._session.scalar(_IS_PURGED, {"id": document_id}):
            return
        await self._session.execute(
            insert(HandoverRecord)
            .values(
                organization_id=key.organization_id,
                bilko_document_id=document_id,
                document_type=to_underscores(key.document_type),
                r2_object_key=key.pdf,
                sha256=key.sha256,
            )
            .on_conflict_do_nothing()
        )

    async def sync_document_status(self, key: JobKey | None = None) -> None:
        """Let documents say what their rows say: a revert brings columns back that are older than their row."""
        if key is None:
            await self._session.execute(_SYNC_OPEN_DOCUMENTS)
        else:
            await self._session.execute(_SYNC_DOCUMENTS_OF_KEY, {"key": key.pdf})

    async def find_latest_open(self, key: JobKey) -> HandoverRecord | None:
        """The newest of the rows that wait for this job, or failed with it."""
        waiting = select(HandoverRecord).where(
            HandoverRecord.r2_object_key == key.pdf, HandoverRecord.archive_status != HandoverStatus.ARCHIVED
        )
        return await self._session.scalar(waiting.order_by(HandoverRecord.created_at.desc()).limit(1))

    async def reset_failed(self, key: JobKey) -> None:
        """What failed with this job waits for the archiver again."""
        await update_records(
            self._session,
            HandoverRecord.r2_object_key == key.pdf,
            HandoverRecord.archive_status == HandoverStatus.FAILED,
            archive_status=HandoverStatus.PENDING,
            retry_count=0,
            last_error=None,
            next_attempt_at=func.now() + RECHECK_INTERVAL,
        )
        await self._session.execute(_SYNC_DOCUMENTS_OF_KEY, {"key": key.pdf})

    async def delete_unarchived(self, document_id: UUID, key: JobKey) -> None:
        """Of a document that is gone and is not in the archive."""
        await self._session.execute(
            delete(HandoverRecord).where(
                *_matches(document_id, key), HandoverRecord.archive_status != HandoverStatus.ARCHIVED
            )
        )

    async def has_other_waiting(
        self, key: JobKey, statuses: Sequence[HandoverStatus], *, except_document_id: UUID
    ) -> bool:
        """By another document than this one."""
        waiting = select(HandoverRecord.id).where(
            HandoverRecord.r2_object_key == key.pdf,
            HandoverRecord.archive_status.in_(statuses),
            HandoverRecord.bilko_document_id != except_document_id,
        )
        return await self._session.scalar(waiting.limit(1)) is not None

    async def _now(self) -> datetime:
        at: datetime = (await self._session.execute(select(func.now()))).scalar_one()
        return at


def _matches(document_id: UUID, key: JobKey) -> tuple[Any, ...]:
    return (
        HandoverRecord.organization_id == key.organization_id,
        HandoverRecord.bilko_document_id == document_id,
        HandoverRecord.r2_object_key == key.pdf,
    )


async def update_records(session: AsyncSession, *conditions: Any, **values: Any) -> None:
    changed = update(HandoverRecord).where(*conditions).values(updated_at=func.now(), **values)
    await session.execute(changed.execution_options(synchronize_session=False))


_HAS_ORIGINAL = text("""
    EXISTS (SELECT FROM documents d
             WHERE d.organization_id = archive_audit_log.organization_id AND d.sha256 = archive_audit_log.sha256)
""")


class DueHandoverRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim_due(self, *, limit: int) -> Sequence[HandoverRecord]:
        """Rows that are to be seen after, for this attempt; nobody else takes them before the next."""
        due = select(HandoverRecord.id).where(HandoverRecord.next_attempt_at <= func.now())
        due = due.order_by(HandoverRecord.next_attempt_at).limit(limit).with_for_update(skip_locked=True)
        taken = await self._session.scalars(
            update(HandoverRecord)
            .where(HandoverRecord.id.in_(due))
            .values(next_attempt_at=func.now() + RECHECK_INTERVAL)
            .returning(HandoverRecord)
        )
        return taken.all()

    async def list_unsubmitted(self, *, limit: int) -> Sequence[UUID]:
        """Documents of ours that are to be handed over and that nobody has taken in hand."""
        waiting = select(Document.id).where(
            Document.archive_status == HandoverStatus.PENDING, Document.archive_job_id.is_(None)
        )
        return (await self._session.scalars(waiting.order_by(Document.id).limit(limit))).all()

    async def find_confirmed_copy(self, sha256: str) -> HandoverRecord | None:
        """A proof that the archive has these bytes of this organization."""
        proven = select(HandoverRecord).where(
            HandoverRecord.sha256 == sha256,
            HandoverRecord.archive_status == HandoverStatus.ARCHIVED,
            HandoverRecord.paperless_doc_id.is_not(None),
        )
        return await self._session.scalar(proven.order_by(HandoverRecord.archived_at).limit(1))

    async def mark_archived_as(self, row_id: UUID, confirmed: HandoverRecord) -> None:
        """End a row with the copy that another one was proven by."""
        await update_records(
            self._session,
            HandoverRecord.id == row_id,
            archive_status=HandoverStatus.ARCHIVED,
            paperless_doc_id=confirmed.paperless_doc_id,
            paperless_doc_url=confirmed.paperless_doc_url,
            archived_at=func.now(),
            last_error=None,
            next_attempt_at=None,
        )

    async def mark_permanently_failed(self, row_id: UUID, error: str | None) -> None:
        """It is failed, and nothing is tried without somebody's wish."""
        values: dict[str, Any] = {"archive_status": HandoverStatus.FAILED, "next_attempt_at": None}
        await update_records(
            self._session,
            HandoverRecord.id == row_id,
            **values,
            last_error=func.coalesce(error, HandoverRecord.last_error),
        )

    async def find_original(self, sha256: str) -> Document | None:
        """A document of ours that has these bytes now."""
        return await self._session.scalar(
            select(Document).where(Document.sha256 == sha256).order_by(Document.id).limit(1)
        )

    async def find_document(self, document_id: UUID, sha256: str) -> Document | None:
        """The document itself, if it still has these bytes."""
        return await self._session.scalar(select(Document).where(Document.id == document_id, Document.sha256 == sha256))

    async def schedule_failed_now(self) -> int:
        """What failed and can be handed over again from an original of ours is due now; how many."""
        due = update(HandoverRecord).where(
            HandoverRecord.archive_status == HandoverStatus.FAILED,
            or_(HandoverRecord.next_attempt_at.is_(None), HandoverRecord.next_attempt_at > func.now()),
            _HAS_ORIGINAL,
        )
        hastened = await self._session.scalars(
            due.values(next_attempt_at=func.now())
            .returning(HandoverRecord.id)
            .execution_options(synchronize_session=False)
        )
        return len(hastened.all())
