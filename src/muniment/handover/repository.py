"""Queries on hand-over records, within the organization of the service."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, literal_column, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.handover_status import ArchiveStatus
from muniment.documents.tables import Document
from muniment.errors import NotFound
from muniment.handover.internal.contract import Outcome
from muniment.handover.job_key import JobKey, underscored
from muniment.handover.tables import ArchiveAudit, Priority

LOOK_AFTER = timedelta(hours=1)
"""When the sweep sees after a job that was put into the queue, and again."""


_ORGANIZATION_NAME = text("SELECT name FROM organizations WHERE id = :id")


_BEFORE = text("""
    SELECT name, (SELECT archive_status FROM archive_audit_log a WHERE a.organization_id = o.id
                     AND a.bilko_document_id = :document_id AND a.r2_object_key = :key)
      FROM organizations o WHERE id = :id
""")


_IS_PURGED = text("SELECT EXISTS (SELECT FROM receipts WHERE document_id = :id)")


_SETTLE = """
    UPDATE documents d SET archive_status = a.archive_status, paperless_doc_url = a.paperless_doc_url,
                           handed_over_at = a.archived_at
      FROM archive_audit_log a
     WHERE a.bilko_document_id = d.id AND a.organization_id = d.organization_id AND a.r2_object_key = d.archive_job_id
       AND (d.archive_status, d.paperless_doc_url, d.handed_over_at)
           IS DISTINCT FROM (a.archive_status::text, a.paperless_doc_url, a.archived_at)
"""


_SETTLE_OF_KEY = text(f"{_SETTLE} AND d.archive_job_id = :key")


# What is archived stays so; and there may be a hundred thousand of them.
_SETTLE_ON_THEIR_WAY = text(f"{_SETTLE} AND d.archive_job_id IS NOT NULL AND d.archive_status <> 'archived'")


class OrganizationUnknown(NotFound):
    """Organization not found"""


@dataclass(frozen=True)
class Job:
    """What is to be archived: which document, and where it lies in the queue."""

    key: JobKey
    document_id: UUID
    details: dict[str, str | None] = field(default_factory=dict)
    priority: Priority = Priority.NORMAL


@dataclass(frozen=True)
class Begun:
    status: ArchiveStatus
    """`archived` where nothing is to be done any more."""
    is_new: bool
    """It was not on its way already."""
    organization_name: str
    at: datetime
    """Of the first hand-over."""


class ArchiveRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def organization_name(self, organization_id: UUID) -> str:
        name: str | None = await self._session.scalar(_ORGANIZATION_NAME, {"id": organization_id})
        if name is None:
            raise OrganizationUnknown
        return name

    async def begin(self, job: Job) -> Begun:
        """Note that the document is on its way. One that was archived under this key stays so."""
        values = {"id": job.key.organization_id, "document_id": job.document_id, "key": job.key.pdf}
        found = (await self._session.execute(_BEFORE, values)).one_or_none()
        if found is None:
            raise OrganizationUnknown
        name, before = found
        again = {
            "archive_status": ArchiveStatus.PENDING,
            "last_error": None,
            "next_attempt_at": func.now() + LOOK_AFTER,
            "updated_at": func.now(),
        }
        added = insert(ArchiveAudit).values(
            organization_id=job.key.organization_id,
            bilko_document_id=job.document_id,
            document_type=underscored(job.key.document_type),
            r2_object_key=job.key.pdf,
            sha256=job.key.sha256,
            details=job.details,
            priority=job.priority,
            next_attempt_at=func.now() + LOOK_AFTER,
        )
        begun = await self._session.execute(
            added.on_conflict_do_update(
                constraint="uq_archive_audit_log_document_key",
                set_=again,
                where=ArchiveAudit.archive_status != ArchiveStatus.ARCHIVED,
            ).returning(ArchiveAudit.created_at)
        )
        at = begun.scalar()
        is_on_its_way = before in (ArchiveStatus.PENDING, ArchiveStatus.ARCHIVED)
        status = ArchiveStatus.ARCHIVED if at is None else ArchiveStatus.PENDING
        return Begun(status, is_new=not is_on_its_way, organization_name=name, at=at or await self._now())

    async def mark_failed(self, document_id: UUID, key: JobKey, error: str, *, is_repeated: bool) -> None:
        """It could not be put into the queue; the sweep tries again (after 1 minute, doubling to 1 hour) or nobody."""
        minutes = func.least(60, func.power(2, func.least(6, ArchiveAudit.attempts)))
        again = func.now() + minutes * literal_column("interval '1 minute'") if is_repeated else None
        await set_rows(
            self._session,
            *_of(document_id, key),
            archive_status=ArchiveStatus.FAILED,
            last_error=error,
            attempts=ArchiveAudit.attempts + 1,
            next_attempt_at=again,
        )

    async def record(self, document_id: UUID, key: JobKey, outcome: Outcome) -> Sequence[ArchiveAudit]:
        """Note it on every row of this key, and on one for `document_id` that its producer did not make; those that
        it changed the status of. What was proven to be archived stays so."""
        await self._add_missing(document_id, key)
        values = vars(outcome) | {"archive_status": outcome.status, "next_attempt_at": None}
        if outcome.status is ArchiveStatus.PENDING:
            values["next_attempt_at"] = func.now() + LOOK_AFTER
        of_key = (ArchiveAudit.organization_id == key.organization_id, ArchiveAudit.r2_object_key == key.pdf)
        rows = await self._session.scalars(select(ArchiveAudit).where(*of_key).with_for_update())
        changed = [row for row in rows if row.archive_status not in (ArchiveStatus.ARCHIVED, outcome.status)]
        del values["status"]
        may_change = (
            () if outcome.status is ArchiveStatus.ARCHIVED else (ArchiveAudit.archive_status != ArchiveStatus.ARCHIVED,)
        )
        await set_rows(self._session, *of_key, *may_change, **values)
        await self._session.execute(_SETTLE_OF_KEY, {"key": key.pdf})
        return changed

    async def _add_missing(self, document_id: UUID, key: JobKey) -> None:
        # A document of ours that was purged while others with its bytes wait: nothing more is written about it.
        if await self._session.scalar(_IS_PURGED, {"id": document_id}):
            return
        await self._session.execute(
            insert(ArchiveAudit)
            .values(
                organization_id=key.organization_id,
                bilko_document_id=document_id,
                document_type=underscored(key.document_type),
                r2_object_key=key.pdf,
                sha256=key.sha256,
            )
            .on_conflict_do_nothing()
        )

    async def settle_documents(self, key: JobKey | None = None) -> None:
        """Let documents say what their rows say: a revert brings columns back that are older than their row."""
        if key is None:
            await self._session.execute(_SETTLE_ON_THEIR_WAY)
        else:
            await self._session.execute(_SETTLE_OF_KEY, {"key": key.pdf})

    async def find_of_key(self, key: JobKey) -> ArchiveAudit | None:
        """The newest of the rows that wait for this job, or failed with it."""
        waiting = select(ArchiveAudit).where(
            ArchiveAudit.r2_object_key == key.pdf, ArchiveAudit.archive_status != ArchiveStatus.ARCHIVED
        )
        return await self._session.scalar(waiting.order_by(ArchiveAudit.created_at.desc()).limit(1))

    async def await_again(self, key: JobKey) -> None:
        """What failed with this job waits for the archiver again."""
        await set_rows(
            self._session,
            ArchiveAudit.r2_object_key == key.pdf,
            ArchiveAudit.archive_status == ArchiveStatus.FAILED,
            archive_status=ArchiveStatus.PENDING,
            retry_count=0,
            last_error=None,
            next_attempt_at=func.now() + LOOK_AFTER,
        )
        await self._session.execute(_SETTLE_OF_KEY, {"key": key.pdf})

    async def forget(self, document_id: UUID, key: JobKey) -> None:
        """Of a document that is gone and is not in the archive."""
        await self._session.execute(
            delete(ArchiveAudit).where(*_of(document_id, key), ArchiveAudit.archive_status != ArchiveStatus.ARCHIVED)
        )

    async def is_waited_for(self, key: JobKey, statuses: Sequence[ArchiveStatus], *, besides: UUID) -> bool:
        """By another document than this one."""
        waiting = select(ArchiveAudit.id).where(
            ArchiveAudit.r2_object_key == key.pdf,
            ArchiveAudit.archive_status.in_(statuses),
            ArchiveAudit.bilko_document_id != besides,
        )
        return await self._session.scalar(waiting.limit(1)) is not None

    async def _now(self) -> datetime:
        at: datetime = (await self._session.execute(select(func.now()))).scalar_one()
        return at


def _of(document_id: UUID, key: JobKey) -> tuple[Any, ...]:
    return (
        ArchiveAudit.organization_id == key.organization_id,
        ArchiveAudit.bilko_document_id == document_id,
        ArchiveAudit.r2_object_key == key.pdf,
    )


async def set_rows(session: AsyncSession, *conditions: Any, **values: Any) -> None:
    changed = update(ArchiveAudit).where(*conditions).values(updated_at=func.now(), **values)
    await session.execute(changed.execution_options(synchronize_session=False))


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
