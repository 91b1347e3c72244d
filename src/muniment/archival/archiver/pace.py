"""How a pass is going: what was accepted, what was not, and whether it is worth going on."""

from dataclasses import dataclass, field
from datetime import datetime

from muniment.archival.keys import JobKey
from muniment.errors import MunimentError

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
