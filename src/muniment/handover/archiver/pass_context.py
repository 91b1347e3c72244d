"""Context of one pass: options, circuit breaker, report and exit codes."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum

from muniment.errors import MunimentError
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.consumer_progress import ConsumerProgress
from muniment.handover.archiver.job_state import JobAction, JobResult
from muniment.handover.archiver.lease import Lease, LeaseHeld, LeaseLost
from muniment.handover.archiver.paperless_objects import PaperlessObjects, TrashCache
from muniment.handover.archiver.upload_pipeline import UploadPipeline
from muniment.handover.internal.client import ApiAccessDenied, InternalApiClient
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessMisconfigured
from muniment.handover.queue import HandoverStores
from muniment.handover.queue_listing import ContentIndex

FAILURE_THRESHOLD = 5
"""Failed jobs before the first accepted one after which the cause is taken to be Paperless, not the jobs."""


@dataclass
class CircuitBreaker:
    """Decides whether a pass starts more jobs, by what Paperless accepted so far."""

    poll_until: datetime
    """End of the time in which this pass waits for tasks."""
    accepted: set[JobKey] = field(default_factory=set)
    failed: set[JobKey] = field(default_factory=set)
    is_open: bool = False
    """No more jobs are started in this pass."""
    stopped_by: MunimentError | None = None

    def record_success(self, key: JobKey) -> None:
        self.accepted.add(key)

    def record_failure(self, key: JobKey) -> None:
        """Record a failed job. Open after too many: without its Redis, Paperless responds but fails every upload."""
        self.failed.add(key)
        if not self.accepted and len(self.failed) >= FAILURE_THRESHOLD:
            self.is_open = True

    def stop(self, error: MunimentError) -> None:
        """Open because of an error that no other job would survive."""
        self.stopped_by = self.stopped_by or error
        self.is_open = True

    def has_accepted_others(self, key: JobKey) -> bool:
        return bool(self.accepted - {key})

    @property
    def nothing_accepted(self) -> bool:
        return bool(self.failed) and not self.accepted


class PassOutcome(IntEnum):
    """Exit codes of `muniment archiver run`; 1 and 2 are those of an invalid command."""

    DONE = 0
    """Every job was examined. The remaining ones are not due yet."""
    NEEDS_OPERATOR = 3
    """Nothing works until an operator acts: token, address or version of Paperless, or key of the internal API."""
    RETRY_LATER = 4
    """Paperless, a store or the API did not respond, or nothing was accepted or processed: the next pass continues."""
    LEASE_HELD = 5
    """Another archiver holds the lease."""

    @property
    def label(self) -> str:
        """Name of the outcome in the log and in `--json`."""
        return _OUTCOME_LABELS[self]


_OUTCOME_LABELS = {
    PassOutcome.DONE: "done",
    PassOutcome.NEEDS_OPERATOR: "line_stopped",
    PassOutcome.RETRY_LATER: "not_now",
    PassOutcome.LEASE_HELD: "another_at_work",
}


@dataclass
class PassReport:
    """What a pass did, and why it stopped if it did."""

    queue_depth: int | None = None
    dead_letters: int | None = None
    actions: Counter[JobAction] = field(default_factory=Counter)
    """Number of jobs by what was done with them."""
    failures: list[JobResult] = field(default_factory=list)
    """Failed jobs, until the end of the pass decides whether their failures count."""
    failed_jobs: int = 0
    """Jobs that failed while they were processed. One that became a dead letter in the same pass counts once."""
    warnings: list[str] = field(default_factory=list)
    """Messages for people that require no action."""
    stopped_by: MunimentError | None = None
    nothing_accepted: bool = False
    stalled: str | None = None
    """Message about accepted uploads that Paperless does not process."""

    @property
    def outcome(self) -> PassOutcome:
        if isinstance(self.stopped_by, PaperlessMisconfigured | ApiAccessDenied):
            return PassOutcome.NEEDS_OPERATOR
        if isinstance(self.stopped_by, LeaseHeld | LeaseLost):
            return PassOutcome.LEASE_HELD
        has_unfinished = self.stopped_by or self.nothing_accepted or self.stalled
        return PassOutcome.RETRY_LATER if has_unfinished else PassOutcome.DONE

    @property
    def as_json(self) -> dict[str, object]:
        """Return the fields of the log event `archive.pass` and of `muniment archiver run --json`."""
        return {
            "outcome": self.outcome.label,
            "queue_depth": self.queue_depth,
            "dead_letters": self.dead_letters,
            "jobs": {str(action): count for action, count in self.actions.items()},
            "reports": self.warnings,
            "stopped_by": self.stopped_by.message if self.stopped_by else None,
            "stalled": self.stalled,
        }


@dataclass(frozen=True)
class ArchiverOptions:
    """Settings of a pass."""

    paperless_url: str
    concurrency: int = 4
    """Jobs processed at the same time, not counting uploads that wait for Paperless."""
    uploads_ahead: int = 12
    """Uploads that may wait for Paperless while other jobs are processed."""
    batch_size: int = 1000
    task_deadline: timedelta = timedelta(hours=24)
    """Time for which later tasks must have been finished before an upload counts as lost."""
    restore_trashed: bool = True
    """Restore a copy from the trash even where a new one could be uploaded."""
    task_wait_budget: timedelta = timedelta(minutes=5)
    """Time after which a pass checks each task only once: a stopped Paperless worker must not block it for hours."""


@dataclass
class PassContext:
    """Everything that the processing of a job needs, for one pass."""

    stores: HandoverStores
    paperless: PaperlessClient
    api: InternalApiClient
    objects: PaperlessObjects
    clock: Clock
    options: ArchiverOptions
    lease: Lease
    breaker: CircuitBreaker
    trash: TrashCache
    consumer: ConsumerProgress
    pipeline: UploadPipeline
    dead_letters: ContentIndex
    report: PassReport
