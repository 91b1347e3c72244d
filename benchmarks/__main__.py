"""`make bench`: one command, one report. Ratios within one run, because machines are noisy."""

import os
import platform
import sys
from collections.abc import Callable

from benchmarks.handover.handover import measure_handover
from benchmarks.http.requests import measure_requests
from benchmarks.lifecycle.moves import measure_lifecycle
from benchmarks.processing.fairness import measure_fairness
from benchmarks.processing.small_documents import measure_small_documents
from benchmarks.processing.throughput import measure_processing
from benchmarks.report import Report
from benchmarks.retrieval.quality import measure_retrieval
from benchmarks.search.scale import measure_search
from benchmarks.startup.startup import measure_start
from benchmarks.web.documents_page import measure_web
from benchmarks.web.folder_upload import measure_folder

MEASURES: dict[str, Callable[[Report], None]] = {
    "start": measure_start,
    "requests": measure_requests,
    "processing": measure_processing,
    "small-documents": measure_small_documents,
    "fairness": measure_fairness,
    "retrieval": measure_retrieval,
    "search": measure_search,
    "lifecycle": measure_lifecycle,
    "handover": measure_handover,
    "web": measure_web,
    "folder": measure_folder,
}


def main() -> None:
    """Run all benchmarks, or the named ones."""
    report = Report()
    for name in sys.argv[1:] or MEASURES:
        MEASURES[name](report)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print(report.table())


if __name__ == "__main__":
    main()
