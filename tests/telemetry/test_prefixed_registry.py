from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from muniment.telemetry import metrics
from muniment.telemetry.collectors import DEFAULT_PREFIX
from tests.telemetry.test_metrics import a_free_port


@pytest.fixture
def as_lumikb() -> Iterator[None]:
    metrics.configure_metrics("lumikb", tenant_labels=True)
    yield
    metrics.configure_metrics(DEFAULT_PREFIX, tenant_labels=True)


def shown(text: str) -> set[str]:
    families = text_string_to_metric_families(text)
    return {name for family in families for name in (family.name, *(sample.name for sample in family.samples))}


@pytest.mark.usefixtures("as_lumikb")
def test_another_prefix_is_that_of_every_metric_of_ours() -> None:
    names = shown(metrics.render()[0].decode())

    assert {
        "lumikb_lifecycle_operation_duration_seconds",
        "lumikb_deletions_pending",
        "lumikb_upload_bytes_total",
    } <= names
    assert not [name for name in names if name.startswith("muniment")]
    assert "process_start_time_seconds" in names


@pytest.mark.usefixtures("as_lumikb")
def test_it_is_that_of_a_worker_too() -> None:
    port = a_free_port()
    stop = metrics.serve_metrics(port)
    try:
        names = shown(httpx.get(f"http://127.0.0.1:{port}/metrics").text)
    finally:
        stop()

    assert "lumikb_deletions_pending" in names


def test_a_change_of_the_prefix_leaves_what_was_counted() -> None:
    metrics.UPLOAD_BYTES.inc(7)
    before = metrics.REGISTRY.get_sample_value("muniment_upload_bytes_total")
    metrics.configure_metrics("lumikb", tenant_labels=True)
    renamed = metrics.REGISTRY.get_sample_value("lumikb_upload_bytes_total")
    metrics.configure_metrics(DEFAULT_PREFIX, tenant_labels=True)

    assert before == renamed == metrics.REGISTRY.get_sample_value("muniment_upload_bytes_total")
