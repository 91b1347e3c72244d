"""Decide what the deaths of processes during a run mean for it.

A reader that exceeds a limit has not died: it ends the run with the code of that limit. A reader that was killed from
outside, or a worker that vanished without a stop signal, is a death. Deaths make a run suspect, never guilty: it is
tried again in a worker that processes nothing else, and fails only if that worker or its reader dies too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

DEATHS_BEFORE_ISOLATION = 2
MAX_ISOLATED_DEATHS = 12
"""Deaths in isolation up to which the death of a worker with another suspect clears a run. While something kills
workers at random, soon every run is a suspect. Without a limit, two files that kill their workers would clear each
other for ever."""

OTHER_CAUSE_LASTS = timedelta(minutes=10)
"""How long something else that killed a worker is expected to go on, such as a machine that runs out of memory."""

QUARANTINED = "quarantined"

QUARANTINED_MESSAGE = (
    "Processing this document crashed repeatedly, even when nothing else was being processed. "
    "Try again or contact your operator."
)


class MortalProcess(StrEnum):
    """Process that died during a run. The values are stored."""

    WORKER = "worker"
    READER = "reader"


@dataclass(frozen=True)
class Death:
    """Death of a process during an attempt of a run."""

    process: MortalProcess
    attempt: int
    worker_id: UUID | None
    is_isolated: bool
    """Whether the worker processed nothing but this run."""
    at: datetime
    """About when: the last heartbeat of the worker, or when the reader was found dead."""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(
            process=MortalProcess(stored["process"]),
            attempt=stored["attempt"],
            worker_id=UUID(stored["worker_id"]) if stored["worker_id"] else None,
            is_isolated=stored["is_isolated"],
            at=datetime.fromisoformat(stored["at"]),
        )


def needs_isolation(deaths: Sequence[Death]) -> bool:
    """Return whether the worker of the next attempt must process nothing else."""
    return len(deaths) >= DEATHS_BEFORE_ISOLATION


def died_in_isolation(deaths: Sequence[Death], attempt: int) -> bool:
    """Return whether the previous attempt died while its worker processed nothing else."""
    return bool(deaths) and deaths[-1].is_isolated and deaths[-1].attempt == attempt - 1


def may_be_cleared_by_suspects(deaths: Sequence[Death]) -> bool:
    """Return whether the death of a worker with another suspect speaks for this run."""
    return sum(death.is_isolated for death in deaths) < MAX_ISOLATED_DEATHS


def suspicion_began(deaths: Sequence[Death]) -> datetime:
    """Return since when this run would have to be the only cause of deaths: over its last three, and some time before.

    Earlier deaths do not count. Otherwise one worker that died for another reason would clear a run for good that
    kills every worker.
    """
    return deaths[-(DEATHS_BEFORE_ISOLATION + 1) :][0].at - OTHER_CAUSE_LASTS


def holders(deaths: Sequence[Death]) -> list[UUID]:
    """Return the workers in which a process died during the run."""
    return [death.worker_id for death in deaths if death.worker_id is not None]
