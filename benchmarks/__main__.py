"""`make bench`: one command, one report. Ratios within one run, because machines are noisy."""

import os
import platform

from benchmarks.processing import measure_processing
from benchmarks.report import Report
from benchmarks.requests import measure_requests
from benchmarks.retrieval import measure_retrieval
from benchmarks.search import measure_search
from benchmarks.start import measure_start


def main() -> None:
    report = Report()
    measure_start(report)
    measure_requests(report)
    measure_processing(report)
    measure_retrieval(report)
    measure_search(report)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print(report.table())


if __name__ == "__main__":
    main()
