"""Real API processes that are ended with SIGKILL during a request."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from muniment.storage.db.address import DatabaseAddress
from tests.faults.moves.installation import InProcessInstallation
from tests.faults.moves.moves import Prepared
from tests.faults.moves.programs.dying_api import LISTENS
from tests.support.clients import NO_AUTHORITIES

PROGRAM = "tests.faults.moves.programs.dying_api"


@dataclass(frozen=True)
class ApiForkServer:
    """Forks API processes, so that the libraries are loaded only once."""

    program: subprocess.Popen[str]
    socket: Path

    async def kill(
        self, installation: InProcessInstallation, address: DatabaseAddress, prepared: Prepared, at: int
    ) -> bool:
        """Send the move to a process that is killed at this effect. Return False if it answered."""
        self.socket.unlink(missing_ok=True)
        case = (address.conninfo, str(installation.settings.server.data_dir), str(self.socket), at)
        assert await asyncio.to_thread(self._ask, json.dumps(case)) == LISTENS
        transport, headers = (
            httpx.AsyncHTTPTransport(uds=str(self.socket), verify=NO_AUTHORITIES),
            installation.owner.headers,
        )
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            with suppress(httpx.TransportError):
                await prepared.request(client)
        ended = json.loads(await asyncio.to_thread(self._hear))["ended"]
        assert ended in (0, -signal.SIGKILL)
        return bool(ended)

    def _ask(self, line: str) -> str:
        assert self.program.stdin
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        return self._hear()

    def _hear(self) -> str:
        assert self.program.stdout
        return self.program.stdout.readline().strip()


@contextmanager
def open_api_fork_server(folder: Path) -> Iterator[ApiForkServer]:
    command = [sys.executable, "-m", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield ApiForkServer(program, folder / "api")  # the program ends when its input is closed
