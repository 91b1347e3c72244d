"""Documents per second and CPU time for many one-page PDFs, of this checkout and of another one beside it.

The two installations run at the same time and take turns, so that other load affects both. The rate is that until the
last document is completed; the CPU time includes its vectors, which may follow.
"""

import os
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import psutil
import psycopg
from tests.support.running_server import RunningServer

from benchmarks.http.requests import app_login
from benchmarks.processing.sample_files import smallest_pdf
from benchmarks.processing.throughput import BenchmarkKnowledgeBase, BenchmarkServer
from benchmarks.report import Report, in_ms

OTHER_PYTHON = "BENCH_OTHER_PYTHON"
"""Environment variable with the Python of another checkout's virtual environment."""
DOCUMENTS, ROUNDS, UPLOADS_AT_ONCE = 50, 7, 10
FIRST_NUMBER = 100_000
"""Numbers of files that no other benchmark uses, so that no content is known."""
PROCESSES = {
    "sandbox": "muniment.processing.sandbox.server",
    "worker": "muniment worker",
    "API": "muniment api",
    "PostgreSQL": "postgres",
}


@dataclass
class Contestant:
    """One installation, and what was measured of it."""

    muniment: RunningServer
    server: BenchmarkServer
    rates: list[float] = field(default_factory=list)
    cpu: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    commits: int = 0

    def run_round(self, first_number: int) -> None:
        """Upload all files at once and wait until they are completed."""
        files = [smallest_pdf(first_number + number) for number in range(DOCUMENTS)]
        kb = BenchmarkKnowledgeBase(self.server)
        cpu, commits, began = _cpu_seconds(self.muniment), self._count_commits(), perf_counter()
        with ThreadPoolExecutor(UPLOADS_AT_ONCE) as pool:
            list(pool.map(kb.upload, files))
        kb.wait_for(DOCUMENTS)
        self.rates.append(DOCUMENTS / (perf_counter() - began))
        if self._computes_vectors_later():
            kb.wait_for_vectors()  # they must not disturb the other installation
        for name, seconds in _cpu_seconds(self.muniment).items():
            self.cpu[name] += seconds - cpu.get(name, 0.0)
        self.commits += self._count_commits() - commits

    def milliseconds(self, process: str) -> float:
        """Return the CPU time of a process for each document."""
        return 1000 * self.cpu[process] / (DOCUMENTS * len(self.rates))

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    def _computes_vectors_later(self) -> bool:
        """Return whether documents are completed before they have vectors: before migration 0040 they were not."""
        row = self.server.rows.execute("SELECT to_regproc('count_document_passages') IS NOT NULL").fetchone()
        return row is not None and bool(row[0])

    def _count_commits(self) -> int:
        statement = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        row = self.server.rows.execute(statement).fetchone()
        assert row is not None
        return int(row[0])


def measure_small_documents(report: Report) -> None:
    """Measure this checkout, beside the one whose Python `BENCH_OTHER_PYTHON` names."""
    pythons = [sys.executable, *filter(None, [os.environ.get(OTHER_PYTHON)])]
    with ExitStack() as running:
        contestants = [running.enter_context(_run(python)) for python in pythons]
        for contestant in contestants:
            contestant.run_round(FIRST_NUMBER)  # starts the sandbox, fills the caches
            contestant.rates.clear()
            contestant.cpu.clear()
            contestant.commits = 0
        for number in range(1, ROUNDS + 1):
            for contestant in contestants[:: 1 if number % 2 else -1]:
                contestant.run_round(FIRST_NUMBER + number * DOCUMENTS)
    _report(report, *contestants)


def _report(report: Report, ours: Contestant, other: Contestant | None = None) -> None:
    what = f"{DOCUMENTS} smallest PDFs at once"
    rate = f"{ours.rate:.1f} documents a second"
    report.add(what, rate, f"{ours.rate / other.rate:.2f} × the other checkout ({other.rate:.1f})" if other else "")
    for process in (*PROCESSES, "all"):
        against = ""
        if other and (theirs := other.milliseconds(process)):
            against = f"{ours.milliseconds(process) / theirs:.2f} × the other checkout ({in_ms(theirs / 1000)})"
        report.add(f"  CPU time of a document, {process}", in_ms(ours.milliseconds(process) / 1000), against)
    per_document = ours.commits / (DOCUMENTS * len(ours.rates))
    report.add("  transactions of a document", f"{per_document:.1f}", _commits(other) if other else "")


def _commits(other: Contestant) -> str:
    return f"{other.commits / (DOCUMENTS * len(other.rates)):.1f} in the other checkout"


@contextmanager
def _run(python: str) -> Iterator[Contestant]:
    with tempfile.TemporaryDirectory(prefix="mun-") as folder:
        Path(folder).chmod(0o755)
        with RunningServer(Path(folder)) as muniment:
            muniment.python = python
            muniment.start()
            with muniment.client() as client, psycopg.connect(app_login(muniment).conninfo, autocommit=True) as rows:
                me = client.get("/api/v1/auth/me").json()["id"]
                rows.execute("SELECT set_config('app.user_id', %s, false)", [me])
                yield Contestant(muniment, BenchmarkServer(client, rows))


def _cpu_seconds(muniment: RunningServer) -> Mapping[str, float]:
    """Return the CPU time so far of each kind of process, with that of its children that have ended."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for process in muniment.everybody:
        with suppress(psutil.Error):
            command, times = " ".join(process.cmdline()), process.cpu_times()
            spent = times.user + times.system + times.children_user + times.children_system
            name = next((name for name, part in PROCESSES.items() if part in command), "others")
            seconds[name] += spent
            seconds["all"] += spent
    return seconds
