"""Hand-over: submitting documents, and the archiver that drains the queue."""

from benchmarks.handover.drain_queue import measure_drain_queue
from benchmarks.handover.submission import measure_submission
from benchmarks.report import Report


def measure_handover(report: Report) -> None:
    measure_submission(report)
    measure_drain_queue(report)
