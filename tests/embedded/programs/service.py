"""Minimal `muniment serve`: a supervisor, PostgreSQL if requested, and two children that do nothing."""

import sys
import time
from pathlib import Path

from muniment.embedded.child_process import ChildProcess
from muniment.embedded.data_directory import DataDirectoryLock
from muniment.embedded.errors import AlreadyRunning
from muniment.embedded.postgres import EmbeddedPostgres
from muniment.embedded.supervisor import Supervisor

data_dir, database, manner = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
events = data_dir / "events"


def note(line: str) -> None:
    with events.open("a") as file:
        file.write(f"0 {line}\n")


def prepare() -> None:
    note("preparing")
    while manner == "slow" and not (data_dir / "go").exists():
        time.sleep(0.02)
    note("prepared")


def child(name: str, manner: str) -> ChildProcess:
    command = [sys.executable, str(Path(__file__).with_name("child.py")), name, str(events), manner]
    return ChildProcess(name, command, is_ready=lambda: events.exists() and f"{name} started" in events.read_text())


supervisor = Supervisor(
    postgres=EmbeddedPostgres(data_dir, password="secret") if database == "embedded" else None,
    prepare=prepare,
    children=[child("api", manner), child("worker", "plain")],
    on_ready=lambda: note("ready"),
    grace_seconds=1 if manner == "impatient" else 15,
)
try:
    with DataDirectoryLock(data_dir):
        sys.exit(supervisor.run())
except AlreadyRunning as error:
    sys.exit(error.message)
