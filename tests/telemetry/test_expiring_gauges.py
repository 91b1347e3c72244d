from prometheus_client import CollectorRegistry

from muniment.telemetry.collectors import EXPIRY_SECONDS, ExpiringGauge, ExpiringGaugeFamily


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def a_gauge(clock: Clock) -> tuple[ExpiringGauge, CollectorRegistry]:
    registry = CollectorRegistry()
    return ExpiringGauge("oldest_seconds", "Oldest", registry=registry, clock=clock), registry


def test_who_has_not_measured_claims_nothing() -> None:
    _, registry = a_gauge(Clock())

    assert str(registry.get_sample_value("oldest_seconds")) == "nan"


def test_what_was_measured_is_shown_while_it_is_fresh_and_then_forgotten() -> None:
    clock = Clock()
    gauge, registry = a_gauge(clock)
    gauge.set(7200)

    clock.now += EXPIRY_SECONDS
    assert registry.get_sample_value("oldest_seconds") == 7200
    clock.now += 1
    assert str(registry.get_sample_value("oldest_seconds")) == "nan"


def test_a_new_measurement_is_fresh_again() -> None:
    clock = Clock()
    gauge, registry = a_gauge(clock)
    gauge.set(7200)
    clock.now += 2 * EXPIRY_SECONDS
    gauge.set(0)

    assert registry.get_sample_value("oldest_seconds") == 0


def test_several_are_replaced_at_once_and_forgotten_together() -> None:
    clock, registry = Clock(), CollectorRegistry()
    gauges = ExpiringGaugeFamily("drift", "Drift", ["store", "kind"], registry=registry, clock=clock)
    orphan, lost = {"store": "vectors", "kind": "orphan"}, {"store": "blobs", "kind": "lost"}
    gauges.set({("vectors", "orphan"): 3, ("blobs", "lost"): 1})
    assert [registry.get_sample_value("drift", labels) for labels in (orphan, lost)] == [3, 1]

    gauges.set({("blobs", "lost"): 0})
    assert [registry.get_sample_value("drift", labels) for labels in (orphan, lost)] == [None, 0]

    clock.now += EXPIRY_SECONDS + 1
    assert registry.get_sample_value("drift", lost) is None
