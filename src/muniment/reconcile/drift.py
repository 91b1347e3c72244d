"""Where the stores may disagree, in words of their own: what a comparison finds, and what becomes of it."""

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
    RUNS = "runs"
    JOBS = "jobs"
    DOCUMENTS = "documents"
    UPLOADS = "uploads"
    LEDGER = "ledger"
    INTENTS = "intents"
    RECEIPTS = "receipts"


class DriftKind(StrEnum):
    MISSING = "missing"
    """A row or a document without what belongs to it."""
    DAMAGED = "damaged"
    """Other bytes than were stored."""
    ORPHANED = "orphaned"
    """Something that no row names."""
    STALE = "stale"
    """Of a run that does not count (any more)."""
    WRONG_STATUS = "wrong_status"
    STUCK = "stuck"
    """Nobody works on it and nobody will."""
    OVERDUE = "overdue"
    """What a sweep should have finished by now."""
    UNREACHABLE = "unreachable"
    """The store did not answer: nobody knows."""


@dataclass(frozen=True)
class Drift:
    """One thing that is not as the rows say, or was not when somebody looked."""

    store: StoreName
    kind: DriftKind
    target: str
    """What it is about: the key of an object, the id of a run, a document, a line."""
    kb_id: UUID | None = None
    document_id: UUID | None = None
    is_loss: bool = False
    """Bytes that people gave us are gone: nothing here can bring them back."""


def _ignore_progress(_: int) -> None:
    pass


@dataclass(frozen=True)
class ReconcileScope:
    """Within which organization, and since when things stand as they do."""

    organization_id: UUID
    kb_ids: Sequence[UUID]
    covers_organization: bool
    """Whether these are all knowledge bases of the organization."""
    unchanged_since: datetime
    """What changed later may be on its way, and is left alone."""
    orphans_before: datetime
    """Objects that are younger are never litter."""
    report_progress: Callable[[int], None] = _ignore_progress
    """Told how many documents were compared."""

    @property
    def service(self) -> Service:
        return Service(self.organization_id)


class ReconcileCheck(Protocol):
    """Two looks and a decision. Nothing is drift that only one look saw."""

    @property
    def store(self) -> StoreName: ...

    def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        """What seems to be wrong. Memory grows with that at most, not with what is compared."""

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        """Those that are still so, now that what was on its way had the time to arrive."""

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        """Put it right if that is safe, having decided again with the row held; `False` where it is not, or where
        somebody else is at it."""
