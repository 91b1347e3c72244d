"""Run health checks side by side within a time limit, for `/health/ready` and `muniment doctor`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import structlog
from pydantic import BaseModel

from muniment.errors import MunimentError

log = structlog.get_logger()

TIMEOUT_SECONDS = 2.0

HealthState = Literal["ok", "failed"]


class HealthCheckRead(BaseModel):
    status: HealthState
    detail: str


@dataclass(frozen=True)
class HealthCheck:
    """Check of one component: returns a short text, or raises `Unavailable` with a message. It never writes."""

    run: Callable[[], Awaitable[str]]
    is_critical: bool
    """Whether no request can be answered without this component."""


class HealthChecks:
    """Checks by component.

    A check that exceeds the time limit is cancelled, but nobody waits for it: cancelling a query takes as long as the
    database takes to respond. Until it has ended the check counts as failed and is not started again, so that a
    component that hangs holds one connection and not one per request.
    """

    def __init__(self, checks: Mapping[str, HealthCheck]) -> None:
        self.checks = checks
        self._running: dict[str, asyncio.Task[HealthCheckRead]] = {}

    @property
    def are_hanging(self) -> bool:
        """Whether a check has not ended yet."""
        return bool(self._running)

    async def run(self, *, timeout_seconds: float = TIMEOUT_SECONDS) -> Mapping[str, HealthCheckRead]:
        """Run all checks at once and return what is known when the time is over."""
        tasks = {name: self._running.get(name) or self._start(name, check) for name, check in self.checks.items()}
        await asyncio.wait(tasks.values(), timeout=timeout_seconds)
        late = HealthCheckRead(status="failed", detail=f"no response within {timeout_seconds:g} seconds")
        results = {name: task.result() if _has_result(task) else late for name, task in tasks.items()}
        for task in tasks.values():
            task.cancel()
        return results

    def _start(self, name: str, check: HealthCheck) -> asyncio.Task[HealthCheckRead]:
        task = asyncio.create_task(_run_check(name, check))
        self._running[name] = task
        task.add_done_callback(lambda _: self._running.pop(name))
        return task


def _has_result(task: asyncio.Task[HealthCheckRead]) -> bool:
    return task.done() and not task.cancelled()


async def _run_check(name: str, check: HealthCheck) -> HealthCheckRead:
    try:
        return HealthCheckRead(status="ok", detail=await check.run())
    except MunimentError as error:
        return HealthCheckRead(status="failed", detail=error.message)
    except Exception as error:  # noqa: BLE001 a check that breaks is a failed check; it must not hide the others
        log.warning("health.check_broken", check=name, error=str(error), kind=type(error).__name__)
        first_line = (str(error) or type(error).__name__).splitlines()[0]
        return HealthCheckRead(status="failed", detail=first_line)
