"""Resources shared by the processes of a test run: created on first use, deleted when the run ends."""

import fcntl
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil

from tests.support.folders import fast_folder

PID, IS_KILLED, LEFTOVERS = "pid", "is_killed", "leftovers"
"""Keys of what `make` returns: the process to end with the run, whether to kill it, and its leftovers in `/tmp`."""
PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @classmethod
    def create(cls) -> Self:
        path = Path(tempfile.mkdtemp(prefix="mun-", dir=fast_folder())).resolve()
        path.chmod(0o755)  # PostgreSQL may run as another user
        return cls(path)

    def make_once(self, name: str, make: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
        """Return what `make` returned for the folder of this name. Only the first process calls it; others wait."""
        made = self.path / f"{name}.json"
        with (self.path / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                folder = self.path / name
                folder.mkdir()
                made.write_text(json.dumps(make(folder)))
        facts: dict[str, Any] = json.loads(made.read_text())
        return facts

    def remove(self) -> None:
        for made in self.path.glob("*.json"):
            facts = json.loads(made.read_text())
            if PID in facts:
                _end(facts[PID], is_killed=facts.get(IS_KILLED, False))
            for pattern in facts.get(LEFTOVERS, []):
                for left in Path(tempfile.gettempdir()).glob(pattern):
                    left.unlink(missing_ok=True)
        shutil.rmtree(self.path)


def _end(pid: int, *, is_killed: bool) -> None:
    """End the process and its children, by force if necessary."""
    if not psutil.pid_exists(pid):
        return
    process = psutil.Process(pid)
    everybody = [process, *process.children(recursive=True)]
    if not is_killed:
        process.terminate()
        _, everybody = psutil.wait_procs(everybody, timeout=PATIENCE_SECONDS)
    for one in everybody:
        one.kill()
    psutil.wait_procs(everybody)
