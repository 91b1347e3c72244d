"""Gauges of what a sweep found, which is true for some minutes only."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Gauge, Metric
from prometheus_client.core import GaugeMetricFamily

FRESH_SECONDS = 300.0


class FreshGauge:
    """Shows what was measured last, and `NaN` when nobody has measured for `FRESH_SECONDS`.

    Each round of a sweep is taken by any one of the workers: the one that found an old line must not go on saying so
    after another has carried it out. And who has not measured must not claim zero: "nothing pending" would hush.
    """

    def __init__(
        self,
        name: str,
        documentation: str,
        *,
        registry: CollectorRegistry,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._value, self._measured_at = math.nan, -math.inf
        Gauge(name, documentation, registry=registry).set_function(self._shown)

    def set(self, value: float) -> None:
        self._value, self._measured_at = value, self._clock()

    def _shown(self) -> float:
        return self._value if self._clock() - self._measured_at <= FRESH_SECONDS else math.nan


class FreshGauges:
    """The same for several of one name, told apart by `labels`. Those that were not measured last are not shown."""

    def __init__(
        self,
        name: str,
        documentation: str,
        labels: Sequence[str],
        *,
        registry: CollectorRegistry,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._documentation, self._labels = name, documentation, labels
        self._clock = clock
        self._values: Mapping[tuple[str, ...], float] = {}
        self._measured_at = -math.inf
        registry.register(self)

    def set(self, values: Mapping[tuple[str, ...], float]) -> None:
        """All of them at once, so that nobody looks between the old and the new."""
        self._values, self._measured_at = values, self._clock()

    def describe(self) -> Iterable[Metric]:
        return [GaugeMetricFamily(self._name, self._documentation, labels=self._labels)]

    def collect(self) -> Iterable[Metric]:
        family = GaugeMetricFamily(self._name, self._documentation, labels=self._labels)
        if self._clock() - self._measured_at <= FRESH_SECONDS:
            for labels, value in self._values.items():
                family.add_metric(labels, value)
        return [family]
