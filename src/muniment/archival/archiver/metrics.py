"""What the archiver counts, under the names of specs/archive-queue.md §9.1. Depths are of jobs, not of objects."""

from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, write_to_textfile
from prometheus_client.parser import text_string_to_metric_families

log = structlog.get_logger()


class Metrics:
    """In a registry of its own: the API and the worker must not claim that the queue is empty."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self.processed = self._counter("archive_jobs_processed", "Jobs archived, proven and closed")
        self.failed = self._counter("archive_jobs_failed", "Jobs that failed with all tries of a pass")
        self.auth_errors = self._counter(
            "archive_paperless_auth_errors", "Passes that Paperless's or the API's refusal of our access ended"
        )
        self.queue_depth = self._gauge("archive_queue_depth", "Jobs in the queue when the pass began")
        self.dlq_depth = self._gauge("archive_dlq_depth", "Jobs among the dead letters when the pass ended")
        self.last_pass = self._gauge("archive_last_pass_timestamp_seconds", "When the last pass ended")
        self.latency = Histogram(
            "archive_e2e_latency_seconds",
            "Time from the hand-over to the proof",
            buckets=(5, 15, 30, 60, 120, 300, 600, 1800, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600),
            registry=self.registry,
        )

    def log(self) -> None:
        """For who makes metrics of log lines."""
        values = {
            sample.name: sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if not sample.name.endswith(("_bucket", "_created"))
        }
        log.info("archive.metrics", severity="INFO", **values)

    def write(self, file: Path) -> None:
        """For node_exporter's textfile collector; what the passes before counted is counted on."""
        write_to_textfile(str(file), self.registry)

    def continue_from(self, file: Path) -> None:
        """Every pass is a process of its own: without this the counters would never rise above one pass."""
        if not file.exists():
            return
        before = {
            sample.name: sample.value
            for family in text_string_to_metric_families(file.read_text())
            for sample in family.samples
        }
        for name, counter in self._counters.items():
            counter.inc(before.get(f"{name}_total", 0))

    def _counter(self, name: str, documentation: str) -> Counter:
        counter = Counter(name, documentation, registry=self.registry)
        self._counters[name] = counter
        return counter

    def _gauge(self, name: str, documentation: str) -> Gauge:
        gauge = Gauge(name, documentation, registry=self.registry)
        gauge.set(float("nan"))  # who has not measured must not claim zero
        return gauge
