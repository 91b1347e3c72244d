"""Hand-over: submitting documents, and the archiver that drains the queue."""

from benchmarks.handover.drain_queue import measure_draining
from benchmarks.handover.submission import measure_hand_over
from benchmarks.report import Report


def measure_archive(report: Report) -> None:
    measure_hand_over(report)
    measure_draining(report)
