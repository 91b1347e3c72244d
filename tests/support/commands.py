"""`muniment` commands as a user types them, each in its own process."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

PROGRAM = "tests.support.command_fork_server"


@dataclass(frozen=True)
class CommandResult:
    returncode: int
    stdout: str
    stderr: str


class CommandForkServer:
    """Forks the processes of commands. Started with the first command."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._program: subprocess.Popen[str] | None = None

    def run(self, folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> CommandResult:
        with self._lock, tempfile.TemporaryDirectory() as output:
            stdout, stderr = Path(output, "stdout"), Path(output, "stderr")
            stdout.touch()
            stderr.touch()
            case = {"arguments": arguments, "environment": dict(environment), "folder": str(folder)}
            code = self._ask(json.dumps({**case, "stdout": str(stdout), "stderr": str(stderr)}))
            return CommandResult(code, stdout.read_text(), stderr.read_text())

    def _ask(self, line: str) -> int:
        if self._program is None:
            command = [sys.executable, "-m", PROGRAM]
            self._program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._program.stdin
        assert self._program.stdout
        self._program.stdin.write(f"{line}\n")
        self._program.stdin.flush()
        return int(self._program.stdout.readline())


_SERVER = CommandForkServer()
"""Shared by all tests of this process; ends when its input is closed."""


def run_command(folder: Path, *arguments: str, **environment: str) -> CommandResult:
    """Run one command with only the given environment."""
    return _SERVER.run(folder, arguments, {"PATH": "/usr/bin:/bin", "COLUMNS": "200", **environment})
