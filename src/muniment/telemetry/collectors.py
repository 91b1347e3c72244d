"""Prometheus collectors of our own: gauges that expire, counters per tenant, and a registry with a configurable
prefix.
"""

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID

from prometheus_client import CollectorRegistry, Counter, Gauge, Metric
from prometheus_client.core import GaugeMetricFamily

DEFAULT_PREFIX = "muniment"


# Prometheus' rule for names without the colon, which is for recording rules.
PREFIX_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class PrefixedRegistry(CollectorRegistry):
    """Registry in which every metric is called `muniment_…`; it exports them with the configured prefix."""

    prefix = DEFAULT_PREFIX

    def collect(self) -> Iterable[Metric]:
        """Rename our metrics; those of the process and of Python keep their usual names."""
        for family in super().collect():
            yield self._with_prefix(family) if family.name.startswith(f"{DEFAULT_PREFIX}_") else family

    def _with_prefix(self, family: Metric) -> Metric:
        if self.prefix == DEFAULT_PREFIX:
            return family
        # Copied on each export, so that the counters themselves are not renamed.
        family.name = self._prefixed_name(family.name)
        family.samples = [sample._replace(name=self._prefixed_name(sample.name)) for sample in family.samples]
        return family

    def _prefixed_name(self, name: str) -> str:
        return self.prefix + name.removeprefix(DEFAULT_PREFIX)


EXPIRY_SECONDS = 300.0


class ExpiringGauge:
    """Gauge that shows the last measurement, and `NaN` if none was made for `FRESH_SECONDS`.

    Any worker may run a sweep, so the one that saw a backlog must not report it after another has worked it off. A
    process that has not measured must not report zero either, which would silence alerts.
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
        Gauge(name, documentation, registry=registry).set_function(self._current_value)

    def set(self, value: float) -> None:
        self._value, self._measured_at = value, self._clock()

    def _current_value(self) -> float:
        return self._value if self._clock() - self._measured_at <= EXPIRY_SECONDS else math.nan


class ExpiringGaugeFamily:
    """Expiring gauges of one name with different `labels`. Only those of the last measurement are exported."""

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
        """Replace all values together, so that no export sees a mix of old and new ones."""
        self._values, self._measured_at = values, self._clock()

    def describe(self) -> Iterable[Metric]:
        return [GaugeMetricFamily(self._name, self._documentation, labels=self._labels)]

    def collect(self) -> Iterable[Metric]:
        family = GaugeMetricFamily(self._name, self._documentation, labels=self._labels)
        if self._clock() - self._measured_at <= EXPIRY_SECONDS:
            for labels, value in self._values.items():
                family.add_metric(labels, value)
        return [family]


TENANT_LABELS = ("kb_id", "user_id")


OTHER = "other"


MAX_TENANTS = 2_000
"""Maximum number of (knowledge base, user) pairs of one counter; later pairs are counted as `other`.

Users who may create knowledge bases could otherwise create any number of series.
"""


class TenantCounter:
    """Counter per knowledge base and user, with boolean `labels`."""

    def __init__(self, name: str, documentation: str, labels: tuple[str, ...] = (), *, registry: CollectorRegistry):
        self._name, self._documentation, self._labels, self._registry = name, documentation, labels, registry
        self._tenants: set[tuple[str, str]] = set()
        self._counter = self._build_counter(has_tenants=True)

    def inc(self, kb_id: UUID, user_id: UUID | None, **labels: bool) -> None:
        """Increment the counter. Missing labels are `false`; without a user it counts for `system`."""
        if unknown := set(labels) - set(self._labels):
            raise ValueError(f"{self._name} has no label {', '.join(sorted(unknown))}")
        values = [str(labels.get(label, False)).lower() for label in self._labels]
        label_values = [*self._tenant(str(kb_id), str(user_id or "system")), *values]
        (self._counter.labels(*label_values) if label_values else self._counter).inc()

    def set_tenant_labels(self, *, enabled: bool) -> None:
        """Restart all counters with or without the labels `kb_id` and `user_id`; called once, at startup."""
        self._registry.unregister(self._counter)
        self._tenants.clear()
        self._counter = self._build_counter(has_tenants=enabled)

    def _build_counter(self, *, has_tenants: bool) -> Counter:
        self._has_tenants = has_tenants
        labels = [*(TENANT_LABELS if has_tenants else ()), *self._labels]
        return Counter(self._name, self._documentation, labels, registry=self._registry)

    def _tenant(self, kb_id: str, user_id: str) -> tuple[str, ...]:
        if not self._has_tenants:
            return ()
        tenant = (kb_id, user_id)
        if tenant not in self._tenants and len(self._tenants) >= MAX_TENANTS:
            return (OTHER, OTHER)
        self._tenants.add(tenant)
        return tenant
