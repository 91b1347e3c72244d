"""Starting a part again when it has died, and not too often."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from muniment.errors import MunimentError

log = structlog.get_logger()


@dataclass
class Backoff:
    """How long to wait before the next start: doubling up to a limit, short again after a long life."""

    first_seconds: float = 0.5
    most_seconds: float = 10.0
    long_life_seconds: float = 30.0
    _next_seconds: float | None = field(default=None, init=False)

    def after(self, lived_seconds: float) -> float:
        if self._next_seconds is None or lived_seconds >= self.long_life_seconds:
            self._next_seconds = self.first_seconds
        delay = self._next_seconds
        self._next_seconds = min(delay * 2, self.most_seconds)
        return delay


class Part(Protocol):
    @property
    def pid(self) -> int | None: ...

    def poll(self) -> int | None:
        """Its exit code if it has ended."""


class Restarts:
    """Watches one part. `start` starts it, and raises a `MunimentError` if that fails."""

    def __init__(self, name: str, part: Part, start: Callable[[], object]) -> None:
        self._name = name
        self._part = part
        self._start = start
        self._backoff = Backoff()
        self._started_at = time.monotonic()
        self._due_at: float | None = None

    def tend(self) -> None:
        """Notice a death, or start again when it is time."""
        now = time.monotonic()
        if self._due_at is not None:
            if now >= self._due_at:
                self._start_again()
        elif (code := self._part.poll()) is not None:
            self._wait()
            log.warning("supervisor.child_died", name=self._name, pid=self._part.pid, code=code)

    def _start_again(self) -> None:
        self._due_at = None
        self._started_at = time.monotonic()
        try:
            self._start()
        except (MunimentError, OSError) as error:  # the disk or the process table may be full, for a while
            self._wait()
            log.error("supervisor.child_not_restarted", name=self._name, reason=str(error))
        else:
            log.info("supervisor.child_restarted", name=self._name, pid=self._part.pid)

    def _wait(self) -> None:
        now = time.monotonic()
        self._due_at = now + self._backoff.after(now - self._started_at)
