"""What Muniment counts. Labels come from closed sets (route names, tasks, results), never from what a user typed."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
    start_http_server,
)

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)

UNMATCHED = "unmatched"
"""The operation of a request that no route took."""

HTTP_REQUESTS = Counter(
    "muniment_http_requests_total", "Requests answered", ["method", "operation", "status"], registry=REGISTRY
)
HTTP_REQUEST_SECONDS = Histogram(
    "muniment_http_request_seconds",
    "Time from a request to the end of its answer",
    ["method", "operation"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)
UPLOADS = Counter("muniment_uploads_total", "Uploads by their result", ["result"], registry=REGISTRY)
UPLOAD_BYTES = Counter("muniment_upload_bytes_total", "Bytes of accepted uploads", registry=REGISTRY)
JOBS = Counter("muniment_jobs_total", "Jobs by their result", ["task", "result"], registry=REGISTRY)
JOB_SECONDS = Histogram(
    "muniment_job_seconds",
    "Time that a job ran",
    ["task"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600),
    registry=REGISTRY,
)
ARTIFACTS = Counter(
    "muniment_artifacts_total", "Texts that a run needed: found or computed", ["result"], registry=REGISTRY
)
INDEXES = Counter(
    "muniment_indexes_total", "Texts that were cut into passages and embedded", ["result"], registry=REGISTRY
)
NODE_SECONDS = Histogram(
    "muniment_node_seconds",
    "Time that a node of the processing graph took",
    ["node"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600, 3600),
    registry=REGISTRY,
)
PAGES_READ = Counter("muniment_pages_read_total", "Pages that were read", registry=REGISTRY)
OCR_PAGES = Counter("muniment_ocr_pages_total", "Pages that were read by OCR", registry=REGISTRY)
ARTIFACT_BYTES_FREED = Counter(
    "muniment_artifact_bytes_freed_total", "Bytes of text packs that the garbage collection removed", registry=REGISTRY
)
SIGNINS = Counter("muniment_signins_total", "Attempts to sign in by their result", ["result"], registry=REGISTRY)
DELETIONS_PENDING = Gauge("muniment_deletions_pending", "Deletions not carried out yet", registry=REGISTRY)
DELETIONS_OLDEST_SECONDS = Gauge(
    "muniment_deletions_oldest_seconds", "Age of the oldest deletion not carried out yet", registry=REGISTRY
)
DISK_FREE_BYTES = Gauge("muniment_disk_free_bytes", "Free space where the data is kept", registry=REGISTRY)

# A process that does not measure these must not claim zero: "no disk left" would ring, "nothing pending" would hush.
for _unmeasured in (DELETIONS_PENDING, DELETIONS_OLDEST_SECONDS, DISK_FREE_BYTES):
    _unmeasured.set(math.nan)


def watch_disk(folder: Path) -> None:
    """Measure the free space around `folder` each time somebody looks."""

    def free_bytes() -> float:
        try:
            return shutil.disk_usage(folder).free
        except OSError:
            return math.nan

    DISK_FREE_BYTES.set_function(free_bytes)


def render() -> tuple[bytes, str]:
    """All metrics as Prometheus reads them, and their content type."""
    return generate_latest(REGISTRY), CONTENT_TYPE_LATEST


def serve_metrics(port: int) -> Callable[[], None]:
    """Show the metrics of a process without an API on the loopback. Call the answer to stop."""
    server, thread = start_http_server(port, addr="127.0.0.1", registry=REGISTRY)

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
