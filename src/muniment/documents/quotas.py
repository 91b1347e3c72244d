"""Quotas of an organization: bytes, documents and queued runs (docs/design.md#quotas)."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import Forbidden, StorageFull, TooManyRequests
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

RETRY_AFTER_SECONDS = 10
_GET_STORAGE = text("SELECT used_bytes, documents FROM organization_storage(:organization_id)")
_COUNT_QUEUED_RUNS = text("SELECT organization_queued_runs(:organization_id)")
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


class QuotaExceeded(StorageFull):
    """The storage quota of your organization is exceeded"""

    code = "quota_exceeded"

    def __init__(self, message: str) -> None:
        super().__init__(f"{message}. Permanently delete documents, or ask your operator for more space")
        self.body = {"detail": self.message, "code": self.code}


class TooManyQueuedRuns(TooManyRequests):
    """Too many documents of your organization are waiting to be processed. Try again shortly"""

    code = "too_many_queued_runs"

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=RETRY_AFTER_SECONDS)
        self.body = {"detail": self.message, "code": self.code}


@dataclass(frozen=True)
class StorageUsage:
    """What an organization stores.

    The bytes are those of all revisions that are kept. While a replacement is in progress, the old version and the new
    one count as the larger of the two, so that a replacement needs only the difference.
    """

    used_bytes: int
    documents: int


class UsageRepository:
    """Queries of the usage of organizations: of the caller's own, and of any for operators."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_storage(self, organization_id: UUID) -> StorageUsage | None:
        """Return what the organization stores, or None if the caller must not know it."""
        found = (await self._session.execute(_GET_STORAGE, {"organization_id": organization_id})).one_or_none()
        return StorageUsage(*found) if found else None

    async def count_queued_runs(self, organization_id: UUID) -> int | None:
        """Return how many runs of the organization wait for a worker, or None if the caller must not know it."""
        found: int | None = await self._session.scalar(_COUNT_QUEUED_RUNS, {"organization_id": organization_id})
        return found


@dataclass(frozen=True)
class Growth:
    """What a change adds to the storage of its organization."""

    size_bytes: int = 0
    documents: int = 0


NO_GROWTH = Growth()


@dataclass(frozen=True)
class UploadRoom:
    """How many bytes of its quota an organization had left when the upload began."""

    left_bytes: int
    max_bytes: int

    def require(self, size_bytes: int) -> None:
        """Raise as soon as an upload is larger than what was left."""
        if size_bytes > self.left_bytes:
            raise _too_many_bytes(self.max_bytes)


@dataclass(frozen=True)
class Quotas:
    """Limits of every organization. 0 is unlimited.

    They are checked twice: `require_room` refuses an upload before its first byte, and `enforce` decides. Only what is
    limited is counted.
    """

    max_bytes: int = 0
    max_documents: int = 0
    max_queued_runs: int = 0

    @property
    def is_unlimited(self) -> bool:
        return not (self.max_bytes or self.max_documents or self.max_queued_runs)

    async def require_room(
        self, work: Work[Principal], *, documents: int = 0, freed_bytes: int = 0
    ) -> UploadRoom | None:
        """Return how large the upload may be, or None if there is no limit. Raise if there is no room at all.

        `documents` is the number of new documents. `freed_bytes` belong to the version that the upload replaces.
        """
        room = None
        if self.max_bytes or (self.max_documents and documents):
            storage = await _get_storage(work)
            if self.max_documents and documents and storage.documents + documents > self.max_documents:
                raise _too_many_documents(self.max_documents)
            if self.max_bytes:
                room = UploadRoom(max(0, self.max_bytes - storage.used_bytes) + freed_bytes, self.max_bytes)
                room.require(1)
        if self.max_queued_runs and await _count_queued_runs(work) >= self.max_queued_runs:
            raise TooManyQueuedRuns
        return room

    async def enforce(self, work: Work[Principal], growth: Growth = NO_GROWTH) -> None:
        """Raise if the transaction, which has written its rows and queued its run, exceeds a quota.

        Call it last. Transactions of an organization pass here one at a time until they end, so that together they
        cannot exceed a quota; one that waited for another row after this could deadlock.
        """
        adds_bytes = self.max_bytes and growth.size_bytes > 0
        adds_documents = self.max_documents and growth.documents > 0
        if not (adds_bytes or adds_documents or self.max_queued_runs):
            return
        await work.session.execute(_LOCK, {"name": lock_name(work.caller.organization_id)})
        # Statements of their own: they see what was committed before the lock was free.
        if adds_bytes or adds_documents:
            storage = await _get_storage(work)
            if adds_documents and storage.documents > self.max_documents:
                raise _too_many_documents(self.max_documents)
            if adds_bytes and storage.used_bytes > self.max_bytes:
                raise _too_many_bytes(self.max_bytes)
        if self.max_queued_runs and await _count_queued_runs(work) > self.max_queued_runs:
            raise TooManyQueuedRuns


def lock_name(organization_id: UUID) -> str:
    """Return the name of the lock that orders the changes of an organization with quotas."""
    return f"quota {organization_id}"


async def _get_storage(work: Work[Principal]) -> StorageUsage:
    storage = await UsageRepository(work.session).find_storage(work.caller.organization_id)
    if storage is None:  # the account was deactivated a moment ago
        raise Forbidden
    return storage


async def _count_queued_runs(work: Work[Principal]) -> int:
    count = await UsageRepository(work.session).count_queued_runs(work.caller.organization_id)
    if count is None:
        raise Forbidden
    return count


def _too_many_bytes(max_bytes: int) -> QuotaExceeded:
    return QuotaExceeded(f"With this file, your organization would exceed its quota of {_format_size(max_bytes)}")


def _too_many_documents(max_documents: int) -> QuotaExceeded:
    noun = "document" if max_documents == 1 else "documents"
    return QuotaExceeded(f"Your organization has reached its quota of {max_documents:,} {noun}")


def _format_size(size_bytes: int) -> str:
    """Return the size in decimal units, as the page shows sizes."""
    value, units = float(size_bytes), ["B", "kB", "MB", "GB", "TB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f}".removesuffix(".0") + f" {units[0]}"
