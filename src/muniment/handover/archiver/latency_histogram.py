"""Histogram of the end-to-end latency, which continues from a stored one.

Prometheus's own histogram cannot be set to earlier values, and a process that runs a single pass would start at zero
each time.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

NAME = "archive_e2e_latency_seconds"
BUCKETS = (5, 15, 30, 60, 120, 300, 600, 1800, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600, math.inf)


class LatencyHistogram(Collector):
    """Time from the hand-over to the verified copy."""

    def __init__(self) -> None:
        self._counts = [0.0] * len(BUCKETS)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(BUCKETS, seconds)] += 1
        self._sum += seconds

    def restore(self, cumulative_counts: Mapping[str, float], total_seconds: float) -> None:
        """Add an earlier histogram: its cumulative counts by upper bound, as in the label `le`, and its sum."""
        before = 0.0
        for index, bound in enumerate(BUCKETS):
            count = cumulative_counts.get(_label(bound), before)  # an earlier version may lack a bucket
            self._counts[index] += count - before
            before = count
        self._sum += total_seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        cumulative = 0.0
        buckets = []
        for bound, count in zip(BUCKETS, self._counts, strict=True):
            cumulative += count
            buckets.append((_label(bound), cumulative))
        yield HistogramMetricFamily(NAME, "Time from the hand-over to the verified copy", buckets, self._sum)


def _label(bound: float) -> str:
    return "+Inf" if bound == math.inf else str(float(bound))
