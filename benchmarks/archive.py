"""The archive queue: handing over, and the archiver that empties it."""

from benchmarks.draining import measure_draining
from benchmarks.hand_over import measure_hand_over
from benchmarks.report import Report


def measure_archive(report: Report) -> None:
    measure_hand_over(report)
    measure_draining(report)
