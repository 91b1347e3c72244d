"""What a pass came to, and the exit code that tells it."""

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum

from muniment.archival.archiver.lease import LeaseHeld, LeaseLost
from muniment.archival.internal_client import ApiRefuses
from muniment.archival.paperless.errors import LineStopped
from muniment.errors import MunimentError


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
