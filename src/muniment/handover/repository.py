"""Queries on hand-over records, within the organization of the service."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Text, case, cast, delete, exists, func, literal, literal_column, not_, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.accounts.repository import OrganizationNotFound
from muniment.accounts.tables import Organization
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.documents.handover_status import HandoverStatus
from muniment.documents.tables import Document
from muniment.handover.internal.contract import JobStatusUpdate
from muniment.handover.job_key import JobKey, to_underscores
from muniment.handover.tables import HandoverRecord, Priority

RECHECK_INTERVAL = timedelta(hours=1)
"""Time until the sweep verifies that a queued job is still in the queue."""

_SYNC_DOCUMENTS = (
    update(Document)
    .values(
        archive_status=HandoverRecord.archive_status,
        paperless_doc_url=HandoverRecord.paperless_doc_url,
        handed_over_at=HandoverRecord.archived_at,
    )
    .where(
        HandoverRecord.bilko_document_id == Document.id,
        HandoverRecord.organization_id == Document.organization_id,
        HandoverRecord.r2_object_key == Document.archive_job_id,
        or_(
            Document.archive_status.is_distinct_from(cast(HandoverRecord.archive_status, Text)),
            Document.paperless_doc_url.is_distinct_from(HandoverRecord.paperless_doc_url),
            Document.handed_over_at.is_distinct_from(HandoverRecord.archived_at),
        ),
    )
    .execution_options(synchronize_session=False)
)
_HAS_ORIGINAL = exists().where(
    Document.organization_id == HandoverRecord.organization_id, Document.sha256 == HandoverRecord.sha256
)


@dataclass(frozen=True)
class HandoverJob:
    """A document to hand over, and the key of its job in the queue."""

    key: JobKey
    document_id: UUID
    details: dict[str, str | None] = field(default_factory=dict)
    priority: Priority = Priority.NORMAL
    belongs_to_document: bool = False
    """Whether the document is ours and the caller has permission on it."""
    name: str | None = None
    """File name, for the sidecar. It is not stored in the record, which outlives a purge."""


@dataclass(frozen=True)
class OpenedRecord:
    status: HandoverStatus
    """`archived` if there is nothing left to do."""
    is_new: bool
    """False if the hand-over was already pending or archived."""
    organization_name: str
    submitted_at: datetime
    """Time of the first submission."""


class HandoverRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get_organization_name(self, organization_id: UUID) -> str:
        name = await self._session.scalar(select(Organization.name).where(Organization.id == organization_id))
        if name is None:
            raise OrganizationNotFound
        return name

    async def open(self, job: HandoverJob) -> OpenedRecord:
        """Open the record of a hand-over, or reopen a failed one. An archived record stays archived."""
        name, previous_status = await self._find_organization_and_status(job)
        has_failed = HandoverRecord.archive_status == HandoverStatus.FAILED
        reopened = {
            "archive_status": HandoverStatus.PENDING,
            "retry_count": case((has_failed, 0), else_=HandoverRecord.retry_count),
            "last_error": case((has_failed, None), else_=HandoverRecord.last_error),
            "next_attempt_at": func.now() + RECHECK_INTERVAL,
            "updated_at": func.now(),
            "belongs_to_document": or_(HandoverRecord.belongs_to_document, literal(job.belongs_to_document)),
        }
        new_record = insert(HandoverRecord).values(
            organization_id=job.key.organization_id,
            bilko_document_id=job.document_id,
            document_type=to_underscores(job.key.document_type),
            r2_object_key=job.key.pdf,
            sha256=job.key.sha256,
            details=job.details,
            priority=job.priority,
            next_attempt_at=func.now() + RECHECK_INTERVAL,
            belongs_to_document=job.belongs_to_document,
        )
        opened = await self._session.execute(
            new_record.on_conflict_do_update(
                constraint="uq_archive_audit_log_document_key",
                set_=reopened,
                where=HandoverRecord.archive_status != HandoverStatus.ARCHIVED,
            ).returning(HandoverRecord.created_at)
        )
        created_at = opened.scalar()
        is_new = previous_status not in (HandoverStatus.PENDING, HandoverStatus.ARCHIVED)
        status = HandoverStatus.ARCHIVED if created_at is None else HandoverStatus.PENDING
        return OpenedRecord(status, is_new=is_new, organization_name=name, submitted_at=created_at or await self._now())

    async def _find_organization_and_status(self, job: HandoverJob) -> tuple[str, str | None]:
        """Return the name of the organization and the status of the job's record, if there is one."""
        status = select(HandoverRecord.archive_status).where(*_matches(job.document_id, job.key)).scalar_subquery()
        found = await self._session.execute(
            select(Organization.name, status).where(Organization.id == job.key.organization_id)
        )
        row = found.one_or_none()
        if row is None:
            raise OrganizationNotFound
        return row[0], row[1]

    async def mark_failed(self, document_id: UUID, key: JobKey, error: str, *, will_retry: bool) -> None:
        """Record that the job could not be queued. With `will_retry` the sweep tries again, first after one minute and
        then at doubling intervals of up to an hour."""
        minutes = func.least(60, func.power(2, func.least(6, HandoverRecord.attempts)))
        retry_at = func.now() + minutes * literal_column("interval '1 minute'") if will_retry else None
        await update_records(
            self._session,
            *_matches(document_id, key),
            archive_status=HandoverStatus.FAILED,
            last_error=error,
            attempts=HandoverRecord.attempts + 1,
            next_attempt_at=retry_at,
        )

    async def apply_status(self, document_id: UUID | None, status_update: JobStatusUpdate) -> Sequence[HandoverRecord]:
        """Apply the update to every record of this key and return those whose status changed.

        Add a record for `document_id`, if it is known and its producer made none. A record that is archived stays
        archived.
        """
        key = status_update.key
        if document_id is not None:
            await self._add_if_missing(document_id, key)
        status = status_update.archive_status
        recheck_at = func.now() + RECHECK_INTERVAL if status is HandoverStatus.PENDING else None
        of_key = (HandoverRecord.organization_id == key.organization_id, HandoverRecord.r2_object_key == key.pdf)
        rows = await self._session.scalars(select(HandoverRecord).where(*of_key).with_for_update())
        changed = [row for row in rows if row.archive_status not in (HandoverStatus.ARCHIVED, status)]
        is_final = HandoverRecord.archive_status == HandoverStatus.ARCHIVED
        may_change = () if status is HandoverStatus.ARCHIVED else (not_(is_final),)
        values = status_update.model_dump(exclude={"organization_id", "r2_object_key"})
        await update_records(self._session, *of_key, *may_change, **values, next_attempt_at=recheck_at)
        await self.sync_document_status(key)
        return changed

    async def _add_if_missing(self, document_id: UUID, key: JobKey) -> None:
        # A document may have been purged while others with its content wait: nothing more is recorded about it.
        if await ReceiptRepository(self._session).exists(document_id):
            return
        await self._session.execute(
            insert(HandoverRecord)
            .values(
                organization_id=key.organization_id,
                bilko_document_id=document_id,
                document_type=to_underscores(key.document_type),
                r2_object_key=key.pdf,
                sha256=key.sha256,
                belongs_to_document=False,  # its producer wrote to the queue without asking us
            )
            .on_conflict_do_nothing()
        )

    async def sync_document_status(self, key: JobKey | None = None) -> None:
        """Copy the status of records to their documents, where a revert may have restored older values."""
        if key is not None:
            await self._session.execute(_SYNC_DOCUMENTS.where(Document.archive_job_id == key.pdf))
            return
        # Archived documents are final, and there may be a hundred thousand of them.
        is_open = (Document.archive_job_id.is_not(None), Document.archive_status != HandoverStatus.ARCHIVED)
        await self._session.execute(_SYNC_DOCUMENTS.where(*is_open))

    async def list_of_document(self, document_id: UUID) -> Sequence[HandoverRecord]:
        """Return the records of all contents and types of a document, newest first."""
        records = select(HandoverRecord).where(HandoverRecord.bilko_document_id == document_id)
        newest_first = records.order_by(HandoverRecord.created_at.desc(), HandoverRecord.id)
        return (await self._session.scalars(newest_first)).all()

    async def find_latest_open(self, key: JobKey) -> HandoverRecord | None:
        """Return the newest record of this job that is pending or failed."""
        waiting = select(HandoverRecord).where(
            HandoverRecord.r2_object_key == key.pdf, HandoverRecord.archive_status != HandoverStatus.ARCHIVED
        )
        return await self._session.scalar(waiting.order_by(HandoverRecord.created_at.desc()).limit(1))

    async def list_failed_documents(self, key: JobKey) -> Sequence[UUID]:
        """Return the documents whose records of this job are failed."""
        failed = select(HandoverRecord.bilko_document_id).where(
            HandoverRecord.r2_object_key == key.pdf, HandoverRecord.archive_status == HandoverStatus.FAILED
        )
        return (await self._session.scalars(failed.order_by(HandoverRecord.created_at))).all()

    async def reset_failed(self, key: JobKey) -> None:
        """Reset the failed records of this job to pending."""
        await update_records(
            self._session,
            HandoverRecord.r2_object_key == key.pdf,
            HandoverRecord.archive_status == HandoverStatus.FAILED,
            archive_status=HandoverStatus.PENDING,
            retry_count=0,
            last_error=None,
            next_attempt_at=func.now() + RECHECK_INTERVAL,
        )
        await self.sync_document_status(key)

    async def delete_unarchived(self, document_id: UUID, key: JobKey) -> None:
        """Delete the record of a deleted document, unless it is archived."""
        await self._session.execute(
            delete(HandoverRecord).where(
                *_matches(document_id, key), HandoverRecord.archive_status != HandoverStatus.ARCHIVED
            )
        )

    async def has_other_waiting(
        self, key: JobKey, statuses: Sequence[HandoverStatus], *, except_document_id: UUID
    ) -> bool:
        """Return whether another document waits for this job."""
        waiting = select(HandoverRecord.id).where(
            HandoverRecord.r2_object_key == key.pdf,
            HandoverRecord.archive_status.in_(statuses),
            HandoverRecord.bilko_document_id != except_document_id,
        )
        return await self._session.scalar(waiting.limit(1)) is not None

    async def is_known(self, document_id: UUID, key: JobKey) -> bool:
        """Return whether this job of the document has a record here, or the document was purged."""
        record = select(HandoverRecord.id).where(*_matches(document_id, key))
        if await self._session.scalar(record) is not None:
            return True
        return await ReceiptRepository(self._session).exists(document_id)

    async def claim_due(self, *, limit: int) -> Sequence[HandoverRecord]:
        """Claim the records that are due and postpone them, so that no other sweep takes them in the meantime."""
        due = select(HandoverRecord.id).where(HandoverRecord.next_attempt_at <= func.now())
        due = due.order_by(HandoverRecord.next_attempt_at).limit(limit).with_for_update(skip_locked=True)
        claimed = await self._session.scalars(
            update(HandoverRecord)
            .where(HandoverRecord.id.in_(due))
            .values(next_attempt_at=func.now() + RECHECK_INTERVAL)
            .returning(HandoverRecord)
        )
        return claimed.all()

    async def list_unsubmitted(self, *, limit: int) -> Sequence[UUID]:
        """Return the ids of documents whose hand-over was requested but not yet submitted."""
        waiting = select(Document.id).where(
            Document.archive_status == HandoverStatus.PENDING, Document.archive_job_id.is_(None)
        )
        return (await self._session.scalars(waiting.order_by(Document.id).limit(limit))).all()

    async def list_confirmed_ids(self, sha256: str) -> Sequence[int]:
        """Return the ids of the Paperless documents that are confirmed for this content."""
        confirmed = select(HandoverRecord.paperless_doc_id).where(
            HandoverRecord.sha256 == sha256,
            HandoverRecord.archive_status == HandoverStatus.ARCHIVED,
            HandoverRecord.paperless_doc_id.is_not(None),
        )
        ids = await self._session.scalars(confirmed.distinct().order_by(HandoverRecord.paperless_doc_id))
        return [document_id for document_id in ids if document_id is not None]

    async def mark_permanently_failed(self, row_id: UUID, error: str | None) -> None:
        """Mark a record as failed without a further automatic attempt."""
        values: dict[str, Any] = {"archive_status": HandoverStatus.FAILED, "next_attempt_at": None}
        await update_records(
            self._session,
            HandoverRecord.id == row_id,
            **values,
            last_error=func.coalesce(error, HandoverRecord.last_error),
        )

    async def find_original(self, sha256: str) -> Document | None:
        """Return a document that has this content now."""
        return await self._session.scalar(
            select(Document).where(Document.sha256 == sha256).order_by(Document.id).limit(1)
        )

    async def find_document(self, document_id: UUID, sha256: str) -> Document | None:
        """Return the document if it still has this content."""
        return await self._session.scalar(select(Document).where(Document.id == document_id, Document.sha256 == sha256))

    async def schedule_failed_now(self) -> int:
        """Make all failed records due whose original Muniment still has, and return their number."""
        due = update(HandoverRecord).where(
            HandoverRecord.archive_status == HandoverStatus.FAILED,
            or_(HandoverRecord.next_attempt_at.is_(None), HandoverRecord.next_attempt_at > func.now()),
            _HAS_ORIGINAL,
        )
        rescheduled = await self._session.scalars(
            due.values(next_attempt_at=func.now())
            .returning(HandoverRecord.id)
            .execution_options(synchronize_session=False)
        )
        return len(rescheduled.all())

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
