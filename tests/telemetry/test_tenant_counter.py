from uuid import UUID

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from muniment.telemetry import collectors
from muniment.telemetry.collectors import TenantCounter

KB, PERSON = UUID(int=1), UUID(int=2)


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def purged(registry: CollectorRegistry) -> TenantCounter:
    return TenantCounter("purged_total", "Purged", ("bulk",), registry=registry)


def test_counts_by_knowledge_base_person_and_label(registry: CollectorRegistry, purged: TenantCounter) -> None:
    purged.inc(KB, PERSON, bulk=True)
    purged.inc(KB, PERSON, bulk=True)
    purged.inc(KB, PERSON)

    of_person = {"kb_id": str(KB), "user_id": str(PERSON)}
    assert registry.get_sample_value("purged_total", {**of_person, "bulk": "true"}) == 2
    assert registry.get_sample_value("purged_total", {**of_person, "bulk": "false"}) == 1


def test_what_no_person_did_was_the_system(registry: CollectorRegistry, purged: TenantCounter) -> None:
    purged.inc(KB, None)

    labels = {"kb_id": str(KB), "user_id": "system", "bulk": "false"}
    assert registry.get_sample_value("purged_total", labels) == 1


def test_without_tenants_both_labels_are_absent(registry: CollectorRegistry, purged: TenantCounter) -> None:
    purged.inc(KB, PERSON)
    purged.set_tenant_labels(enabled=False)
    purged.inc(KB, PERSON)

    assert registry.get_sample_value("purged_total", {"bulk": "false"}) == 1
    assert str(KB) not in generate_latest(registry).decode()


def test_without_tenants_a_counter_may_have_no_label_at_all(registry: CollectorRegistry) -> None:
    archived = TenantCounter("archived_total", "Archived", registry=registry)
    archived.set_tenant_labels(enabled=False)
    archived.inc(KB, PERSON)

    assert registry.get_sample_value("archived_total") == 1


def test_a_crowd_makes_a_bounded_number_of_series_and_is_counted_all_the_same(
    registry: CollectorRegistry, purged: TenantCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collectors, "MAX_TENANTS", 3)
    for number in range(10):
        purged.inc(UUID(int=number), PERSON)
    purged.inc(UUID(int=0), PERSON)

    samples = {
        sample.labels["kb_id"]: sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == "purged_total"
    }
    assert samples == {str(UUID(int=0)): 2, str(UUID(int=1)): 1, str(UUID(int=2)): 1, "other": 7}


def test_an_unknown_label_is_refused(purged: TenantCounter) -> None:
    with pytest.raises(ValueError, match="no label auto"):
        purged.inc(KB, PERSON, auto=True)
