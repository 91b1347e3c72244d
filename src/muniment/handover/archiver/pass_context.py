"""Context of one pass: options, circuit breaker, report and exit codes."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum

from muniment.errors import MunimentError
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.lease import Lease, LeaseHeld, LeaseLost
from muniment.handover.archiver.paperless_objects import Objects, TrashView
from muniment.handover.internal.client import ApiRefuses, InternalApi
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import Paperless
from muniment.handover.paperless.errors import LineStopped
from muniment.handover.queue import ArchiveStores

FAILURES_IN_VAIN = 5
"""Jobs that fail before anything was accepted: after so many of them it is not the jobs."""


@dataclass
class Pace:
    follows_until: datetime
    accepted: set[JobKey] = field(default_factory=set)
    failed: set[JobKey] = field(default_factory=set)
    is_closed: bool = False
    """No job is begun any more in this pass."""
    stopped_by: MunimentError | None = None

    def note_accepted(self, key: JobKey) -> None:
        self.accepted.add(key)

    def note_failed(self, key: JobKey) -> None:
        """With Redis down Paperless answers every question and fails every upload."""
        self.failed.add(key)
        if not self.accepted and len(self.failed) >= FAILURES_IN_VAIN:
            self.is_closed = True

    def stop(self, error: MunimentError) -> None:
        self.stopped_by = self.stopped_by or error
        self.is_closed = True

    def has_accepted_others(self, key: JobKey) -> bool:
        return bool(self.accepted - {key})

    @property
    def was_in_vain(self) -> bool:
        return bool(self.failed) and not self.accepted


class Outcome(IntEnum):
    """The exit codes of `muniment archiver run`; 1 and 2 are those of a command that could not be understood."""

    DONE = 0
    """Everything was looked at; what waits, waits for its time."""
    LINE_STOPPED = 3
    """Nothing works before a person acts: token, address or version of Paperless, or key of the internal API."""
    NOT_NOW = 4
    """Paperless, a store or the API does not answer, or accepted nothing: the next pass tries again."""
    ANOTHER_AT_WORK = 5
    """Another archiver holds the lease."""


@dataclass
class PassReport:
    queue_depth: int | None = None
    dead_letters: int | None = None
    actions: Counter[str] = field(default_factory=Counter)
    """How many jobs ended how: `archived`, `closed`, `waiting`, `left`, `failed`, `dead_letter`, `orphan`."""
    reports: list[str] = field(default_factory=list)
    stopped_by: MunimentError | None = None
    was_in_vain: bool = False

    @property
    def outcome(self) -> Outcome:
        if isinstance(self.stopped_by, LineStopped | ApiRefuses):
            return Outcome.LINE_STOPPED
        if isinstance(self.stopped_by, LeaseHeld | LeaseLost):
            return Outcome.ANOTHER_AT_WORK
        return Outcome.NOT_NOW if self.stopped_by or self.was_in_vain else Outcome.DONE

    @property
    def facts(self) -> dict[str, object]:
        return {
            "outcome": self.outcome.name.lower(),
            "queue_depth": self.queue_depth,
            "dead_letters": self.dead_letters,
            "jobs": dict(self.actions),
            "reports": self.reports,
            "stopped_by": self.stopped_by.message if self.stopped_by else None,
        }


@dataclass(frozen=True)
class Options:
    paperless_url: str
    concurrency: int = 4
    batch: int = 1000
    task_deadline: timedelta = timedelta(hours=24)
    restores_trashed: bool = True
    """A copy in the trash is brought back, also where a new one could be uploaded."""
    follows: timedelta = timedelta(minutes=1)
    """How long a job stays with its task before the next pass takes it up."""
    follows_in_pass: timedelta = timedelta(minutes=5)
    """After this a pass only looks at tasks once each: a Paperless whose worker is away must not hold it for hours."""


@dataclass
class Tools:
    stores: ArchiveStores
    paperless: Paperless
    api: InternalApi
    objects: Objects
    clock: Clock
    options: Options
    lease: Lease
    pace: Pace
    trash: TrashView
    reports: list[str] = field(default_factory=list)
    """What a person should know of although nothing is to be done."""
