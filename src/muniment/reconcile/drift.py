"""Vocabulary of reconciliation: stores, kinds of drift, scopes, and the protocol of a check."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from muniment.storage.db.principal import Service


class StoreName(StrEnum):
    ORIGINALS = "originals"
    PACKS = "packs"
    ARTIFACTS = "artifacts"
    INDEX = "index"
    VECTORS = "vectors"
    RUNS = "runs"
    JOBS = "jobs"
    DOCUMENTS = "documents"
    UPLOADS = "uploads"
    REPLACEMENTS = "replacements"
    LEDGER = "ledger"
    INTENTS = "intents"
    RECEIPTS = "receipts"


class DriftKind(StrEnum):
    MISSING = "missing"
    """A row or a document without something that belongs to it."""
    DAMAGED = "damaged"
    """Stored bytes differ from those that were written."""
    ORPHANED = "orphaned"
    """Something that no row references."""
    STALE = "stale"
    """Belongs to a run or epoch that is no longer current."""
    WRONG_STATUS = "wrong_status"
    STUCK = "stuck"
    """Stalled: no worker is processing it and none will."""
    OVERDUE = "overdue"
    """A sweep should have finished it by now."""
    UNREACHABLE = "unreachable"
    """The store is unavailable, so nothing is known about it."""


@dataclass(frozen=True)
class Drift:
    """A difference between a store and the rows."""

    store: StoreName
    kind: DriftKind
    target: str
    """What it concerns: key of an object, or id of a run, document or ledger entry."""
    kb_id: UUID | None = None
    document_id: UUID | None = None
    is_loss: bool = False
    """Whether uploaded bytes are missing, which cannot be repaired."""


def _ignore_progress(_: int) -> None:
    pass


@dataclass(frozen=True)
class ReconcileScope:
    """What a check covers: an organization, its knowledge bases, and the minimum age of objects that it checks."""

    organization_id: UUID
    kb_ids: Sequence[UUID]
    covers_organization: bool
    """Whether these are all knowledge bases of the organization."""
    unchanged_since: datetime
    """Later changes may still be in progress and are ignored."""
    orphans_before: datetime
    """Younger objects are never orphans."""
    report_progress: Callable[[int], None] = _ignore_progress
    """Callback with the number of compared documents."""

    @property
    def service(self) -> Service:
        return Service(self.organization_id)


class ReconcileCheck(Protocol):
    """Compare one store with the rows. Drift is reported only if `confirm` sees it again."""

    @property
    def store(self) -> StoreName: ...

    def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        """Yield suspected drift. Memory grows with the drift, not with what is compared."""

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        """Return the drift that still exists, after pending changes had time to complete."""

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        """Repair the drift if that is safe, checking again with the row locked.

        Return False if it is not safe, or if another process is working on it.
        """
