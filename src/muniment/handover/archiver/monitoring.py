"""Metrics, job log entries, alerts and their delivery (docs/contracts.md#archiver-log)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

import structlog
from apprise import Apprise, NotifyFormat
from prometheus_client import CollectorRegistry, Counter, Gauge, write_to_textfile
from prometheus_client.parser import text_string_to_metric_families
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from muniment.errors import Invalid, MunimentError
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.job_state import JobAction, JobResult
from muniment.handover.archiver.latency_histogram import NAME as LATENCY_NAME
from muniment.handover.archiver.latency_histogram import LatencyHistogram
from muniment.handover.archiver.paperless_objects import DocumentObjectIds
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.models import PaperlessDocument
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore

log = structlog.get_logger()


class ArchiverMetrics:
    """Metrics of the archiver, in a separate registry: the API and the worker must not report an empty queue."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self.processed = self._counter("archive_jobs_processed", "Jobs sent to Paperless and verified")
        self.failed = self._counter("archive_jobs_failed", "Jobs that failed in all attempts of a pass")
        self.auth_errors = self._counter(
            "archive_paperless_auth_errors", "Passes stopped because Paperless or the API rejected the archiver"
        )
        self.queue_depth = self._gauge("archive_queue_depth", "Jobs in the queue when the pass began")
        self.dlq_depth = self._gauge("archive_dlq_depth", "Jobs among the dead letters when the pass ended")
        self.last_pass = self._gauge("archive_last_pass_timestamp_seconds", "When the last pass ended")
        self.latency = LatencyHistogram()
        self.registry.register(self.latency)

    def log_values(self) -> None:
        """Write all values as one log event, for log-based metrics, without those that were not measured."""
        values = {
            sample.name: sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if not sample.name.endswith(("_bucket", "_created")) and math.isfinite(sample.value)
        }
        log.info("archive.metrics", severity="INFO", **values)

    def write_textfile(self, file: Path) -> None:
        """Write all values for node_exporter's textfile collector."""
        write_to_textfile(str(file), self.registry)

    def restore(self, file: Path) -> None:
        """Continue the counters and the histogram of the file: a process that runs a single pass would start at zero
        each time."""
        if not file.exists():
            return
        samples = [sample for family in text_string_to_metric_families(file.read_text()) for sample in family.samples]
        values = {sample.name: sample.value for sample in samples if not sample.labels}
        for name, counter in self._counters.items():
            counter.inc(values.get(f"{name}_total", 0))
        buckets = {sample.labels["le"]: sample.value for sample in samples if sample.name == f"{LATENCY_NAME}_bucket"}
        self.latency.restore(buckets, values.get(f"{LATENCY_NAME}_sum", 0))

    def _counter(self, name: str, documentation: str) -> Counter:
        counter = Counter(name, documentation, registry=self.registry)
        self._counters[name] = counter
        return counter

    def _gauge(self, name: str, documentation: str) -> Gauge:
        gauge = Gauge(name, documentation, registry=self.registry)
        gauge.set(float("nan"))  # unknown until measured; zero would be wrong
        return gauge


_MAX_ERROR_CHARACTERS = 500
_LEVELS = {
    JobAction.FAILED: ("warning", "WARNING"),
    JobAction.ORPHAN: ("warning", "WARNING"),
    JobAction.DEAD_LETTER: ("error", "ERROR"),
}


def log_job(result: JobResult, now: datetime) -> None:
    """Write the log event of one job in a pass."""
    key, sidecar = result.key, result.sidecar
    level, severity = _LEVELS.get(result.action, ("info", "INFO"))
    getattr(log, level)(
        "archive.job",
        severity=severity,
        r2Key=key.pdf,
        organizationId=str(key.organization_id),
        documentType=key.document_type,
        bilkoDocumentId=str(sidecar.bilko_document_id) if sidecar else None,
        action=str(result.action),
        retryCount=sidecar.retry_count if sidecar else None,
        durationMs=round((now - result.started_at).total_seconds() * 1000) if result.started_at else None,
        paperlessDocId=result.document_id,
        error=result.error[:_MAX_ERROR_CHARACTERS] if result.error else None,
    )


def log_extra_tags(key: JobKey, document: PaperlessDocument, ids: DocumentObjectIds) -> None:
    """Log tags that workflows of Paperless added to the document. They stay."""
    if added := sorted(document.tags - ids.tags):
        log.info("handover.extra_tags", r2Key=key.pdf, paperlessDocId=document.id, tagIds=added)


def log_duplicates(key: JobKey, document_id: int, duplicate_ids: Sequence[int]) -> str:
    """Log duplicates in Paperless, and return the warning for the report of the pass."""
    log.warning(
        "handover.duplicates_found",
        severity="WARNING",
        r2Key=key.pdf,
        paperlessDocId=document_id,
        doubles=list(duplicate_ids),
    )
    listed = ", ".join(map(str, duplicate_ids))
    return f"Paperless had duplicates of a document. Kept {document_id}, see also {listed} ({key.pdf})"


ALERTS_KEY = "archiver/alerts.json"
BACKLOG_THRESHOLD, BACKLOG_DURATION = 500, timedelta(minutes=15)
FAILURE_ALERT_THRESHOLD, FAILURE_WINDOW = 5, timedelta(hours=1)


@dataclass(frozen=True)
class Alert:
    name: str
    severity: str
    """`P1` or `P2` (docs/contracts.md#archiver-alerts)."""
    message: str
    repeat: bool = False
    """Notify again although the condition is not new: there is more of it."""
    cause: str | None = None
    """Cause of a condition that can have several. Another cause is notified again."""


class Notifier(Protocol):
    async def send(self, title: str, body: str) -> bool:
        """Send a message. Return whether all recipients were reached."""


class AlertState(BaseModel):
    """Alerts that were sent, and conditions that must last before one is. The aliases are fields of a stored object."""

    model_config = ConfigDict(populate_by_name=True)

    notified: dict[str, str] = Field(default_factory=dict, alias="told")
    backlog_since: AwareDatetime | None = Field(None, alias="deepSince")
    failure_times: list[AwareDatetime] = Field(default_factory=list, alias="failedAt")
    causes: dict[str, str] = Field(default_factory=dict)

    def is_known(self, alert: Alert) -> bool:
        """Return whether people know of this condition and its cause."""
        return alert.name in self.notified and alert.cause == self.causes.get(alert.name)


@dataclass
class Alerts:
    store: VersionedObjectStore
    notifier: Notifier
    clock: Clock

    async def update(self, conditions: Sequence[Alert], *, depth: int | None, failures: int, is_complete: bool) -> None:
        """Notify about new conditions and, after a complete pass, forget those that are over.

        `depth` is that of the queue, or `None` if the queue could not be listed.
        """
        try:
            state = await self._load()
            now = self.clock.now()
            active = [*conditions, *self._lasting_conditions(state, now, depth, failures)]
            await self._notify(state, active, now, is_complete=is_complete)
            await self._save(state)
        except MunimentError as error:
            log.error("handover.alerts_failed", error=error.message)

    async def _notify(self, state: AlertState, active: Sequence[Alert], now: datetime, *, is_complete: bool) -> None:
        for alert in active:
            if alert.repeat or not state.is_known(alert):
                log.error("archive.alert", severity="ERROR", name=alert.name, priority=alert.severity)
                if await self.notifier.send(f"{alert.severity} Muniment archiver: {alert.name}", alert.message):
                    state.notified[alert.name] = now.isoformat()
                    state.causes |= {} if alert.cause is None else {alert.name: alert.cause}
        if is_complete:
            names = {alert.name for alert in active}
            state.notified = {name: at for name, at in state.notified.items() if name in names}
            state.causes = {name: cause for name, cause in state.causes.items() if name in names}

    def _lasting_conditions(self, state: AlertState, now: datetime, depth: int | None, failures: int) -> list[Alert]:
        """Return the conditions that call for an alert only when they last."""
        if depth is not None:
            state.backlog_since = (state.backlog_since or now) if depth > BACKLOG_THRESHOLD else None
        state.failure_times = [time for time in state.failure_times if now - time < FAILURE_WINDOW]
        state.failure_times = (state.failure_times + [now] * failures)[-2 * FAILURE_ALERT_THRESHOLD :]
        alerts = []
        if state.backlog_since and now - state.backlog_since >= BACKLOG_DURATION:
            alerts.append(
                Alert("queue-deep", "P2", f"More than {BACKLOG_THRESHOLD} documents have been waiting for 15 minutes.")
            )
        if len(state.failure_times) > FAILURE_ALERT_THRESHOLD:
            alerts.append(
                Alert("many-failures", "P2", "Many documents could not be sent to Paperless in the last hour.")
            )
        return alerts

    async def _load(self) -> AlertState:
        try:
            return AlertState.model_validate_json(await self.store.get(ALERTS_KEY))
        except (ObjectNotFound, ValidationError):
            return AlertState()  # at worst, an alert is sent twice

    async def _save(self, state: AlertState) -> None:
        async with self.store.writer(ALERTS_KEY, content_type="application/json") as writer:
            await writer.write(state.model_dump_json(by_alias=True).encode())


class InvalidAlertUrl(Invalid):
    """MUNIMENT_ALERT_URLS contains an address that Apprise does not support. See https://github.com/caronc/apprise"""


class AppriseNotifier(Notifier):
    """Notifier for all services that Apprise supports. Without addresses there is nobody to reach."""

    def __init__(self, urls: str) -> None:
        self._apprise = Apprise()
        for url in urls.replace(",", " ").split():
            if not self._apprise.add(url):
                raise InvalidAlertUrl  # without the address, which may contain a password

    async def send(self, title: str, body: str) -> bool:
        if not len(self._apprise):
            return True
        return bool(await self._apprise.async_notify(body=body, title=title, body_format=NotifyFormat.TEXT))
