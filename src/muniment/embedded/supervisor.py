"""Supervisor of `muniment serve`: start PostgreSQL, API and worker in order, restart what dies, stop them in order."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Protocol

import structlog

from muniment.embedded.child_process import ChildProcess
from muniment.embedded.errors import ChildFailed
from muniment.embedded.postgres import EmbeddedPostgres
from muniment.errors import MunimentError

log = structlog.get_logger()


@dataclass
class RestartBackoff:
    """Delay before the next start: doubled up to a limit, and reset after a long run."""

    initial_seconds: float = 0.5
    max_seconds: float = 10.0
    stable_after_seconds: float = 30.0
    _next_seconds: float | None = field(default=None, init=False)

    def next_delay(self, lived_seconds: float) -> float:
        if self._next_seconds is None or lived_seconds >= self.stable_after_seconds:
            self._next_seconds = self.initial_seconds
        delay = self._next_seconds
        self._next_seconds = min(delay * 2, self.max_seconds)
        return delay


class SupervisedProcess(Protocol):
    @property
    def pid(self) -> int | None: ...

    def poll(self) -> int | None:
        """Return the exit code if the process has ended."""


class RestartingProcess:
    """Monitors one process. `start` starts it, and raises a `MunimentError` if that fails."""

    def __init__(self, name: str, process: SupervisedProcess, start: Callable[[], object]) -> None:
        self._name = name
        self._process = process
        self._start = start
        self._backoff = RestartBackoff()
        self._started_at = time.monotonic()
        self._due_at: float | None = None

    def poll(self) -> None:
        """Notice an exit, or restart when the delay is over."""
        now = time.monotonic()
        if self._due_at is not None:
            if now >= self._due_at:
                self._restart()
        elif (code := self._process.poll()) is not None:
            self._schedule_restart()
            log.warning("supervisor.child_died", name=self._name, pid=self._process.pid, code=code)

    def _restart(self) -> None:
        self._due_at = None
        self._started_at = time.monotonic()
        try:
            self._start()
        except (MunimentError, OSError) as error:  # the disk or the process table may be full temporarily
            self._schedule_restart()
            log.error("supervisor.child_not_restarted", name=self._name, reason=str(error))
        else:
            log.info("supervisor.child_restarted", name=self._name, pid=self._process.pid)

    def _schedule_restart(self) -> None:
        now = time.monotonic()
        self._due_at = now + self._backoff.next_delay(now - self._started_at)


POLL_SECONDS = 0.05


GRACE_SECONDS = 15.0


class Supervisor:
    """Runs in the main thread, which receives signals. The caller holds the lock of the data directory.

    It starts PostgreSQL (unless the database is external), runs `prepare`, then starts the children in the given order.
    `on_ready` is called once, when all are ready. They are stopped in the same order, PostgreSQL last.
    """

    def __init__(
        self,
        *,
        children: Sequence[ChildProcess],
        postgres: EmbeddedPostgres | None = None,
        prepare: Callable[[], None] = lambda: None,
        on_ready: Callable[[], None] = lambda: None,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._children = children
        self._postgres = postgres
        self._prepare = prepare
        self._on_ready = on_ready
        self._grace_seconds = grace_seconds
        self._lifeline = -1
        self._is_stop_requested = False
        self._is_forced = False
        self._is_starting = False
        self._is_announced = False

    def run(self) -> int:
        """Run until a signal (0), or until a process cannot be started or exits before it was ready (1)."""
        self._install_signal_handlers()
        with self._open_lifeline():
            try:
                self._start()
                self._watch()
            except MunimentError as error:
                log.error("supervisor.failed", reason=error.message)
                return 1
            except KeyboardInterrupt:
                pass  # a second Ctrl-C during startup
            finally:
                self._stop()
        return 0

    def _start(self) -> None:
        with self._starting():
            if self._postgres:
                self._postgres.start()
                log.info("supervisor.postgres_started", pid=self._postgres.pid)
            self._prepare()
        for child in self._children:
            if self._is_stop_requested:
                return
            child.start(self._lifeline)
            log.info("supervisor.child_started", name=child.name, pid=child.pid)

    def _watch(self) -> None:
        parts = [RestartingProcess(child.name, child, partial(child.start, self._lifeline)) for child in self._children]
        if self._postgres:
            parts.append(RestartingProcess("postgres", self._postgres, self._restart_postgres))
        while not self._is_stop_requested:
            self._check_readiness()
            for part in parts:
                part.poll()
            time.sleep(POLL_SECONDS)

    def _check_readiness(self) -> None:
        if self._is_announced:
            return
        for child in self._children:
            code = child.poll()
            if code is not None and not child.has_been_ready:
                raise ChildFailed(f"The process {child.name} exited with code {code} before it was ready")
        if not [child for child in self._children if not child.check_ready()]:
            self._is_announced = True
            log.info("supervisor.ready")
            self._on_ready()

    def _restart_postgres(self) -> None:
        if self._postgres:
            with self._starting():
                self._postgres.start()

    def _stop(self) -> None:
        with ExitStack() as stops:  # last in, first out; each runs even if an earlier one fails
            if self._postgres:
                stops.callback(self._stop_postgres, self._postgres)
            for child in reversed(self._children):
                stops.callback(self._stop_child, child)

    def _stop_child(self, child: ChildProcess) -> None:
        child.stop(grace_seconds=self._grace_seconds, force=lambda: self._is_forced)
        log.info("supervisor.child_stopped", name=child.name, code=child.poll())

    def _stop_postgres(self, postgres: EmbeddedPostgres) -> None:
        postgres.stop()
        log.info("supervisor.postgres_stopped", code=postgres.poll())

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """Start PostgreSQL and migrate without being interrupted by one signal; a second Ctrl-C does interrupt."""
        self._is_starting = True
        try:
            yield
        finally:
            self._is_starting = False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Only Ctrl-C counts, because a closing terminal or a service manager may send several signals and mean one.
        self._is_forced = self._is_forced or (self._is_stop_requested and number == signal.SIGINT)
        self._is_stop_requested = True
        if self._is_starting and self._is_forced:
            raise KeyboardInterrupt

    def _install_signal_handlers(self) -> None:
        """Install signal handlers that stay after `run`, so that another Ctrl-C during shutdown is no error."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # ignored under nohup
                signal.signal(number, self._on_signal)

    @contextmanager
    def _open_lifeline(self) -> Iterator[None]:
        """Open the pipe that closes when we die. No other process has its write end, since both are closed on exec."""
        self._lifeline, write_end = os.pipe()
        try:
            yield
        finally:
            os.close(self._lifeline)
            os.close(write_end)
