"""Real worker processes that are ended with SIGKILL."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from tests.faults.effects import Effect
from tests.faults.harness import FaultHarness
from tests.processing.sandbox.processes import go_away

PROGRAM = "tests.faults.programs.dying_worker"
NEVER = -1


@dataclass(frozen=True)
class WorkerReport:
    queue: str
    reached: list[Effect]


@dataclass(frozen=True)
class WorkerForkServer:
    """Forks worker processes, so that the libraries are loaded only once."""

    program: subprocess.Popen[str]

    async def work_off(
        self, fault_env: FaultHarness, document_id: UUID, queue: str, *, killed_at: int = NEVER
    ) -> WorkerReport:
        """Process the document in a child process, killed at the given effect. No process started by the child survives
        it."""
        job = fault_env.worker_env.job(document_id, queue)
        case = (
            fault_env.address.conninfo,
            str(fault_env.folder.parent),
            str(job.run_id),
            str(job.organization_id),
            queue,
        )
        said = json.loads(await asyncio.to_thread(self._ask, json.dumps([*case, killed_at])))
        assert said["ended"] == (0 if killed_at == NEVER else -signal.SIGKILL)
        assert go_away(said["children"])
        return WorkerReport(said["queue"], [Effect(**effect) for effect in said["reached"]])

    def _ask(self, line: str) -> str:
        assert self.program.stdin
        assert self.program.stdout
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        return self.program.stdout.readline()


@contextmanager
def open_worker_fork_server() -> Iterator[WorkerForkServer]:
    command = [sys.executable, "-m", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield WorkerForkServer(program)  # the program ends when its input is closed
