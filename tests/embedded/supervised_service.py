"""The supervisor as a real process, observed from outside."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg

from muniment.embedded.postgres_location import LocationFile, find_database_address
from tests.embedded.conftest import Eventually


class SupervisedService:
    """One run of `programs/service.py`, with the output of it and its children."""

    def __init__(self, data_dir: Path, bytecode: Path, eventually: Eventually) -> None:
        self.data_dir = data_dir
        # Compiled once for all tests, even if Python is configured to write no bytecode.
        self.environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONPYCACHEPREFIX": str(bytecode)}
        self.eventually = eventually
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, database: str = "none", manner: str = "plain") -> subprocess.Popen[bytes]:
        program = Path(__file__).parent / "programs" / "service.py"
        with (self.data_dir / "output").open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, str(program), str(self.data_dir), database, manner],
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def start_and_wait(self, database: str = "none", manner: str = "plain") -> subprocess.Popen[bytes]:
        times = self.events().count("ready") + 1
        process = self.start(database, manner)
        self.eventually(lambda: self.has_seen("ready", times))
        return process

    def events(self) -> list[str]:
        """Return `api started`, `worker stopped`, `ready` and so on, in order."""
        file = self.data_dir / "events"
        lines = file.read_text().splitlines() if file.exists() else []
        return [re.sub(r"^\S+ | \d+$", "", line) for line in lines]

    def has_seen(self, event: str, times: int = 1) -> bool:
        return self.events().count(event) >= times

    def output(self) -> str:
        return (self.data_dir / "output").read_text()

    def pid_of(self, child: str) -> int:
        lines = (self.data_dir / "events").read_text().splitlines()
        return int([line for line in lines if f"{child} started" in line][-1].split()[-1])

    def postmaster(self) -> psutil.Process | None:
        pointer = LocationFile.read(self.data_dir)
        try:
            return psutil.Process(int((pointer.cluster / "postmaster.pid").read_text().split()[0])) if pointer else None
        except (FileNotFoundError, psutil.NoSuchProcess):
            return None

    def query(self, question: str) -> list[tuple[object, ...]] | None:
        """Return None while the database is unavailable."""
        address = find_database_address(self.data_dir)
        assert address
        try:
            with psycopg.connect(address.as_login("postgres", "secret").conninfo, autocommit=True) as connection:
                cursor = connection.execute(question)
                return cursor.fetchall() if cursor.description else []
        except psycopg.OperationalError:
            return None


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
