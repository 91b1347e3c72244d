"""Context of one pass: options, circuit breaker, report and exit codes."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum

from muniment.errors import MunimentError
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.lease import Lease, LeaseHeld, LeaseLost
from muniment.handover.archiver.paperless_objects import PaperlessObjects, TrashCache
from muniment.handover.internal.client import ApiAccessDenied, InternalApiClient
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessMisconfigured
from muniment.handover.queue import HandoverStores

FAILURE_THRESHOLD = 5
"""Jobs that fail before anything was accepted: after so many of them it is not the jobs."""


@dataclass
class CircuitBreaker:
    poll_until: datetime
    accepted: set[JobKey] = field(default_factory=set)
    failed: set[JobKey] = field(default_factory=set)
    is_open: bool = False
    """No job is begun any more in this pass."""
    stopped_by: MunimentError | None = None

    def record_success(self, key: JobKey) -> None:
        self.accepted.add(key)

    def record_failure(self, key: JobKey) -> None:
        """With Redis down Paperless answers every question and fails every upload."""
        self.failed.add(key)
        if not self.accepted and len(self.failed) >= FAILURE_THRESHOLD:
            self.is_open = True

    def stop(self, error: MunimentError) -> None:
        self.stopped_by = self.stopped_by or error
        self.is_open = True

    def has_accepted_others(self, key: JobKey) -> bool:
        return bool(self.accepted - {key})

    @property
    def nothing_accepted(self) -> bool:
        return bool(self.failed) and not self.accepted


class PassOutcome(IntEnum):
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
    warnings: list[str] = field(default_factory=list)
    stopped_by: MunimentError | None = None
    nothing_accepted: bool = False

    @property
    def outcome(self) -> PassOutcome:
        if isinstance(self.stopped_by, PaperlessMisconfigured | ApiAccessDenied):
            return PassOutcome.LINE_STOPPED
        if isinstance(self.stopped_by, LeaseHeld | LeaseLost):
            return PassOutcome.ANOTHER_AT_WORK
        return PassOutcome.NOT_NOW if self.stopped_by or self.nothing_accepted else PassOutcome.DONE

    @property
    def as_json(self) -> dict[str, object]:
        return {
            "outcome": self.outcome.name.lower(),
            "queue_depth": self.queue_depth,
            "dead_letters": self.dead_letters,
            "jobs": dict(self.actions),
            "reports": self.warnings,
            "stopped_by": self.stopped_by.message if self.stopped_by else None,
        }


@dataclass(frozen=True)
class ArchiverOptions:
    paperless_url: str
    concurrency: int = 4
    batch_size: int = 1000
    task_deadline: timedelta = timedelta(hours=24)
    restore_trashed: bool = True
    """A copy in the trash is brought back, also where a new one could be uploaded."""
    task_wait: timedelta = timedelta(minutes=1)
    """How long a job stays with its task before the next pass takes it up."""
    task_wait_budget: timedelta = timedelta(minutes=5)
    """After this a pass only looks at tasks once each: a Paperless whose worker is away must not hold it for hours."""


@dataclass
class PassContext:
    stores: HandoverStores
    paperless: PaperlessClient
    api: InternalApiClient
    objects: PaperlessObjects
    clock: Clock
    options: ArchiverOptions
    lease: Lease
    breaker: CircuitBreaker
    trash: TrashCache
    warnings: list[str] = field(default_factory=list)
    """What a person should know of although nothing is to be done."""
