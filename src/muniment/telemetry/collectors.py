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


# Prometheus' own rule for names, without the colon, which belongs to recording rules.
PREFIX_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class PrefixedRegistry(CollectorRegistry):
    """Knows every metric as `muniment_…` and shows it under the prefix that an installation asked for."""

    prefix = DEFAULT_PREFIX

    def collect(self) -> Iterable[Metric]:
        """All of ours renamed; those of the process and of Python keep the names that everybody gives them."""
        for family in super().collect():
            yield self._with_prefix(family) if family.name.startswith(f"{DEFAULT_PREFIX}_") else family

    def _with_prefix(self, family: Metric) -> Metric:
        if self.prefix == DEFAULT_PREFIX:
            return family
        # Made anew for each look, so that changing it changes nothing that is counted.
        family.name = self._prefixed_name(family.name)
        family.samples = [sample._replace(name=self._prefixed_name(sample.name)) for sample in family.samples]
        return family

    def _prefixed_name(self, name: str) -> str:
        return self.prefix + name.removeprefix(DEFAULT_PREFIX)


EXPIRY_SECONDS = 300.0


class ExpiringGauge:
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
        Gauge(name, documentation, registry=registry).set_function(self._current_value)

    def set(self, value: float) -> None:
        self._value, self._measured_at = value, self._clock()

    def _current_value(self) -> float:
        return self._value if self._clock() - self._measured_at <= EXPIRY_SECONDS else math.nan


class ExpiringGaugeFamily:
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
        if self._clock() - self._measured_at <= EXPIRY_SECONDS:
            for labels, value in self._values.items():
                family.add_metric(labels, value)
        return [family]


TENANT_LABELS = ("kb_id", "user_id")


OTHER = "other"


MAX_TENANTS = 2_000
"""Pairs of knowledge base and person that one counter tells apart. Whoever may make knowledge bases could otherwise
make series without end; later pairs are counted together as `other`."""


class TenantCounter:
    """A counter by knowledge base and person, and by `labels` that are true or false."""

    def __init__(self, name: str, documentation: str, labels: tuple[str, ...] = (), *, registry: CollectorRegistry):
        self._name, self._documentation, self._labels, self._registry = name, documentation, labels, registry
        self._tenants: set[tuple[str, str]] = set()
        self._counter = self._build_counter(has_tenants=True)

    def inc(self, kb_id: UUID, user_id: UUID | None, **labels: bool) -> None:
        """One more. Labels that are left out are `false`; nobody in particular is `system`."""
        if unknown := set(labels) - set(self._labels):
            raise ValueError(f"{self._name} has no label {', '.join(sorted(unknown))}")
        values = [str(labels.get(label, False)).lower() for label in self._labels]
        chosen = [*self._tenant(str(kb_id), str(user_id or "system")), *values]
        (self._counter.labels(*chosen) if chosen else self._counter).inc()

    def set_tenant_labels(self, *, enabled: bool) -> None:
        """Begin anew with or without the labels `kb_id` and `user_id`: a process decides this once, at its start."""
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
