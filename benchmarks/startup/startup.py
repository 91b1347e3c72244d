"""Time from `muniment serve` until it is ready, and to stop it."""

import tempfile
from pathlib import Path
from time import perf_counter

from tests.support.running_server import RunningServer

from benchmarks.report import Report


def measure_start(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="mun-") as folder:
        Path(folder).chmod(0o755)
        with RunningServer(Path(folder)) as muniment:
            first, second = _start(muniment), _start(muniment)
    report.add("first start, with initdb and migrations", f"{first[0]:.2f} s", wanted="< 10 s")
    report.add("second start", f"{second[0]:.2f} s", f"{second[0] / first[0]:.2f} × the first", wanted="< 4 s")
    report.add("stop by Ctrl-C", f"{second[1]:.2f} s")


def _start(muniment: RunningServer) -> tuple[float, float]:
    began = perf_counter()
    muniment.start()
    ready = perf_counter()
    muniment.stop()
    return ready - began, perf_counter() - ready
