"""Metrics of Muniment. Labels come from closed sets (route names, tasks, results), never from user input.

Only the lifecycle counters have labels for knowledge bases and users, as docs/contracts.md#lifecycle-metrics requires
(`collectors.py`).
"""

import math
import shutil
from collections.abc import Callable
from pathlib import Path

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
    start_http_server,
)

from muniment.telemetry.collectors import ExpiringGauge, ExpiringGaugeFamily, PrefixedRegistry, TenantCounter

REGISTRY = PrefixedRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)

UNMATCHED = "unmatched"
"""Operation of a request that matched no route."""

HTTP_REQUESTS = Counter(
    "muniment_http_requests_total", "Requests", ["method", "operation", "status"], registry=REGISTRY
)
HTTP_REQUEST_SECONDS = Histogram(
    "muniment_http_request_seconds",
    "Duration of a request",
    ["method", "operation"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)
UPLOADS = Counter("muniment_uploads_total", "Uploads by result", ["result"], registry=REGISTRY)
UPLOAD_BYTES = Counter("muniment_upload_bytes_total", "Bytes of accepted uploads", registry=REGISTRY)
ORIGINALS_DAMAGED = Counter(
    "muniment_originals_damaged_total", "Reads of an original that is not the file that was uploaded", registry=REGISTRY
)
JOBS = Counter("muniment_jobs_total", "Jobs by result", ["task", "result"], registry=REGISTRY)
JOB_SECONDS = Histogram(
    "muniment_job_seconds",
    "Duration of a job",
    ["task"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600),
    registry=REGISTRY,
)
DEAD_LETTERS_UNSAVED = ExpiringGauge(
    "muniment_dead_letters_unsaved",
    "Dead letters older than five days without another copy",
    registry=REGISTRY,
)
ARTIFACTS = Counter(
    "muniment_artifacts_total",
    "Texts required by runs, by whether they were reused or computed",
    ["result"],
    registry=REGISTRY,
)
INDEXES = Counter(
    "muniment_indexes_total", "Texts whose passages were embedded completely", ["result"], registry=REGISTRY
)
NODE_SECONDS = Histogram(
    "muniment_node_seconds",
    "Duration of a processing step",
    ["node"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600, 3600),
    registry=REGISTRY,
)
PAGES_READ = Counter("muniment_pages_read_total", "Pages processed", registry=REGISTRY)
OCR_PAGES = Counter("muniment_ocr_pages_total", "Pages processed with OCR", registry=REGISTRY)
ARTIFACT_BYTES_FREED = Counter(
    "muniment_artifact_bytes_freed_total", "Bytes of text packs deleted by garbage collection", registry=REGISTRY
)
SIGNINS = Counter("muniment_signins_total", "Sign-in attempts by result", ["result"], registry=REGISTRY)
DELETIONS_PENDING = ExpiringGauge("muniment_deletions_pending", "Pending deletions", registry=REGISTRY)
DELETIONS_OLDEST_SECONDS = ExpiringGauge(
    "muniment_deletions_oldest_seconds", "Age of the oldest pending deletion", registry=REGISTRY
)
INTENTS_OPEN = ExpiringGauge("muniment_index_intents_open", "Pending index updates", registry=REGISTRY)
INTENTS_OLDEST_SECONDS = ExpiringGauge(
    "muniment_index_intents_oldest_seconds", "Age of the oldest pending index update", registry=REGISTRY
)
EMBEDDING_BACKLOG_PASSAGES = ExpiringGauge(
    "muniment_embedding_backlog_passages",
    "Passages without a vector, which search finds by keywords only",
    registry=REGISTRY,
)
EMBEDDING_BACKLOG_OLDEST_SECONDS = ExpiringGauge(
    "muniment_embedding_backlog_oldest_seconds",
    "Time since the oldest text whose vectors are incomplete was indexed",
    registry=REGISTRY,
)
RECEIPTS_UNFINISHED = ExpiringGauge(
    "muniment_receipts_unfinished", "Purges and clears whose receipt is not signed yet", registry=REGISTRY
)
RECEIPTS_OLDEST_SECONDS = ExpiringGauge(
    "muniment_receipts_oldest_seconds", "Age of the oldest receipt that is not signed yet", registry=REGISTRY
)
AUDIT_UNSEALED_OLDEST_SECONDS = ExpiringGauge(
    "muniment_audit_unsealed_oldest_seconds", "Age of the oldest audit event that is not sealed yet", registry=REGISTRY
)
AUDIT_CHAINS_BROKEN = ExpiringGauge(
    "muniment_audit_chains_broken",
    "Audit chains that do not continue from their last signed head",
    registry=REGISTRY,
)
RECONCILE_DRIFT = ExpiringGaugeFamily(
    "muniment_reconcile_drift",
    "Drift that the last reconciliation found and did not repair",
    ["store", "kind"],
    registry=REGISTRY,
)
DISK_FREE_BYTES = Gauge("muniment_disk_free_bytes", "Free space where the data is kept", registry=REGISTRY)

# A process that does not measure it must not report zero, which would fire the alert for a full disk.
DISK_FREE_BYTES.set(math.nan)

DOCUMENTS_ARCHIVED = TenantCounter("muniment_documents_archived_total", "Documents archived", registry=REGISTRY)
DOCUMENTS_RESTORED = TenantCounter("muniment_documents_restored_total", "Documents restored", registry=REGISTRY)
DOCUMENTS_PURGED = TenantCounter("muniment_documents_purged_total", "Documents purged", ("bulk",), registry=REGISTRY)
DOCUMENTS_CLEARED = TenantCounter(
    "muniment_documents_cleared_total", "Failed documents cleared", ("auto",), registry=REGISTRY
)
DOCUMENTS_REPLACED = TenantCounter("muniment_documents_replaced_total", "Documents replaced", registry=REGISTRY)
DOCUMENTS_REVERTED = TenantCounter("muniment_documents_reverted_total", "Replacements reverted", registry=REGISTRY)
DOCUMENTS_CANCELLED = TenantCounter("muniment_documents_cancelled_total", "Processing cancelled", registry=REGISTRY)
DOCUMENTS_RETRIED = TenantCounter("muniment_documents_retried_total", "Documents queued again", registry=REGISTRY)
REPLACEMENTS_DISCARDED = TenantCounter(
    "muniment_replacements_discarded_total", "Failed replacements deleted on request", registry=REGISTRY
)
TENANT_COUNTERS = (
    DOCUMENTS_ARCHIVED,
    DOCUMENTS_RESTORED,
    DOCUMENTS_PURGED,
    DOCUMENTS_CLEARED,
    DOCUMENTS_REPLACED,
    DOCUMENTS_REVERTED,
    DOCUMENTS_CANCELLED,
    DOCUMENTS_RETRIED,
    REPLACEMENTS_DISCARDED,
)
LIFECYCLE_SECONDS = Histogram(
    "muniment_lifecycle_operation_duration_seconds",
    "Duration of a lifecycle operation",
    ["operation", "status"],
    # With a boundary at each target of docs/contracts.md#lifecycle-targets, and at ten seconds, where the alert fires.
    buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 30, 60),
    registry=REGISTRY,
)
LIFECYCLE_ERRORS = Counter(
    "muniment_lifecycle_errors_total",
    "Lifecycle operations that failed, without those that a rule rejected",
    ["operation", "error_type"],
    registry=REGISTRY,
)


def configure_metrics(prefix: str, *, tenant_labels: bool) -> None:
    """Set the prefix of our metrics, and whether lifecycle counters have labels for knowledge bases and users."""
    REGISTRY.prefix = prefix
    for counter in TENANT_COUNTERS:
        counter.set_tenant_labels(enabled=tenant_labels)


def export_free_disk(folder: Path) -> None:
    """Export the free space on the disk of `folder`, measured at each scrape."""

    def free_bytes() -> float:
        try:
            return shutil.disk_usage(folder).free
        except OSError:
            return math.nan

    DISK_FREE_BYTES.set_function(free_bytes)


def render() -> tuple[bytes, str]:
    """Return all metrics in Prometheus format, and their content type."""
    return generate_latest(REGISTRY), CONTENT_TYPE_LATEST


def serve_metrics(port: int) -> Callable[[], None]:
    """Serve the metrics of a process without an API on localhost. Return a function that stops it."""
    server, thread = start_http_server(port, addr="127.0.0.1", registry=REGISTRY)

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
