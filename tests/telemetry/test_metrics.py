import socket
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from muniment.telemetry import metrics


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def types() -> dict[str, str]:
    return {family.name: family.type for family in text_string_to_metric_families(metrics.render()[0].decode())}


def sample(name: str, **labels: str) -> float | None:
    return metrics.REGISTRY.get_sample_value(name, labels)


def test_all_metrics_are_shown_with_those_of_the_process() -> None:
    assert {
        "muniment_http_requests": "counter",
        "muniment_http_request_seconds": "histogram",
        "muniment_uploads": "counter",
        "muniment_upload_bytes": "counter",
        "muniment_jobs": "counter",
        "muniment_job_seconds": "histogram",
        "muniment_deletions_pending": "gauge",
        "muniment_deletions_oldest_seconds": "gauge",
        "muniment_disk_free_bytes": "gauge",
        "muniment_signins": "counter",
        "process_start_time_seconds": "gauge",
        "python_info": "gauge",
    }.items() <= types().items()


def test_labels_are_those_that_alerts_and_dashboards_use() -> None:
    metrics.UPLOADS.labels(result="accepted").inc()
    metrics.JOBS.labels(task="documents.read", result="success").inc()
    metrics.SIGNINS.labels(result="refused").inc()

    assert sample("muniment_uploads_total", result="accepted")
    assert sample("muniment_jobs_total", task="documents.read", result="success")
    assert sample("muniment_signins_total", result="refused")


def test_free_disk_is_measured_at_each_look_and_unknown_when_the_folder_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    metrics.export_free_disk(folder)
    free = sample("muniment_disk_free_bytes")
    assert free is not None
    assert free > 0

    folder.rmdir()
    assert str(sample("muniment_disk_free_bytes")) == "nan"


def test_a_worker_shows_its_metrics_on_the_loopback_until_it_stops() -> None:
    port = a_free_port()
    stop = metrics.serve_metrics(port)
    try:
        answer = httpx.get(f"http://127.0.0.1:{port}/metrics")
        assert "muniment_jobs_total" in answer.text
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.2:{port}/metrics")
    finally:
        stop()

    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/metrics")
