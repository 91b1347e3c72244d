"""Metrics, job log entries, alerts and their delivery (docs/contracts.md#archiver-log, §9.1, §9.2)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import structlog
from apprise import Apprise, NotifyFormat
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, write_to_textfile
from prometheus_client.parser import text_string_to_metric_families

from muniment.errors import Invalid, MunimentError
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.paperless_objects import DocumentObjectIds
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.models import PaperlessDocument
from muniment.handover.sidecar import Sidecar
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore

log = structlog.get_logger()


class ArchiverMetrics:
    """In a registry of its own: the API and the worker must not claim that the queue is empty."""

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
        self.latency = Histogram(
            "archive_e2e_latency_seconds",
            "Time from the hand-over to the verified copy",
            buckets=(5, 15, 30, 60, 120, 300, 600, 1800, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600),
            registry=self.registry,
        )

    def log_values(self) -> None:
        """For who makes metrics of log lines."""
        values = {
            sample.name: sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if not sample.name.endswith(("_bucket", "_created"))
        }
        log.info("archive.metrics", severity="INFO", **values)

    def write_textfile(self, file: Path) -> None:
        """For node_exporter's textfile collector; what the passes before counted is counted on."""
        write_to_textfile(str(file), self.registry)

    def restore_counters(self, file: Path) -> None:
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


_MAX_ERROR_CHARACTERS = 500


@dataclass(frozen=True)
class JobLogEntry:
    """One line for what became of a job in a pass."""

    key: JobKey
    action: str
    """`archived`, `closed`, `waiting`, `left`, `failed`, `dead_letter`, `orphan`."""
    sidecar: Sidecar | None = None
    started_at: datetime | None = None
    paperless_doc_id: int | None = None
    error: str | None = None

    def write(self, now: datetime) -> None:
        level, severity = _LEVELS.get(self.action, ("info", "INFO"))
        getattr(log, level)(
            "archive.job",
            severity=severity,
            r2Key=self.key.pdf,
            organizationId=str(self.key.organization_id),
            documentType=self.key.document_type,
            bilkoDocumentId=str(self.sidecar.bilko_document_id) if self.sidecar else None,
            action=self.action,
            retryCount=self.sidecar.retry_count if self.sidecar else None,
            durationMs=round((now - self.started_at).total_seconds() * 1000) if self.started_at else None,
            paperlessDocId=self.paperless_doc_id,
            error=self.error[:_MAX_ERROR_CHARACTERS] if self.error else None,
        )


_LEVELS = {"failed": ("warning", "WARNING"), "orphan": ("warning", "WARNING"), "dead_letter": ("error", "ERROR")}


def log_extra_tags(key: JobKey, document: PaperlessDocument, ids: DocumentObjectIds) -> None:
    """What Paperless's own rules put on a document stays there."""
    if added := sorted(document.tags - ids.tags):
        log.info("archive.tags_added_by_paperless", r2Key=key.pdf, paperlessDocId=document.id, tagIds=added)


def log_duplicates(key: JobKey, kept: int, others: Sequence[int]) -> str:
    """The sentence for people, too."""
    log.warning("archive.doubles", severity="WARNING", r2Key=key.pdf, paperlessDocId=kept, doubles=list(others))
    listed = ", ".join(map(str, others))
    return f"Paperless had duplicates of a document. Kept {kept}, see also {listed} ({key.pdf})"


ALERTS_KEY = "archiver/alerts.json"


BACKLOG_THRESHOLD, BACKLOG_DURATION = 500, timedelta(minutes=15)


FAILURE_ALERT_THRESHOLD, FAILURE_WINDOW = 5, timedelta(hours=1)


@dataclass(frozen=True)
class Alert:
    name: str
    severity: str
    """`P1` or `P2`, as docs/contracts.md#archiver-alerts has them."""
    message: str
    repeat: bool = False
    """Told although the condition was there before: there is more of it."""


class Notifier(Protocol):
    async def send(self, title: str, body: str) -> bool:
        """Whether everybody who is to know was reached."""


@dataclass
class AlertState:
    notified: dict[str, str] = field(default_factory=dict)
    backlog_since: datetime | None = None
    failure_times: list[datetime] = field(default_factory=list)

    @classmethod
    def parse(cls, data: bytes) -> "AlertState":
        try:
            found = json.loads(data)
            deep = found["deepSince"]
            return cls(
                dict(found["told"]),
                datetime.fromisoformat(deep) if deep else None,
                [datetime.fromisoformat(time) for time in found["failedAt"]],
            )
        except (KeyError, TypeError, ValueError):
            return cls()  # then it is told once more

    def to_bytes(self) -> bytes:
        deep = self.backlog_since.astimezone(UTC).isoformat() if self.backlog_since else None
        failed = [time.isoformat() for time in self.failure_times]
        kept: dict[str, Any] = {"told": self.notified, "deepSince": deep, "failedAt": failed}
        return json.dumps(kept).encode()


@dataclass
class Alerts:
    store: VersionedObjectStore
    notifier: Notifier
    clock: Clock

    async def update(self, conditions: Sequence[Alert], *, depth: int | None, failures: int) -> None:
        """Tell what is new among what is so now, and forget what is over. Without `depth` nothing was measured."""
        try:
            memory = await self._load()
            now = self.clock.now()
            standing = [*conditions, *self._lasting_conditions(memory, now, depth, failures)]
            await self._notify(memory, standing, now, is_complete=depth is not None)
            await self._save(memory)
        except MunimentError as error:
            log.error("archive.alerts_failed", error=error.message)

    async def _notify(self, state: AlertState, active: Sequence[Alert], now: datetime, *, is_complete: bool) -> None:
        for alert in active:
            if alert.repeat or alert.name not in state.notified:
                log.error("archive.alert", severity="ERROR", name=alert.name, priority=alert.severity)
                if await self.notifier.send(f"{alert.severity} Muniment archiver: {alert.name}", alert.message):
                    state.notified[alert.name] = now.isoformat()
        if is_complete:
            names = {alert.name for alert in active}
            state.notified = {name: at for name, at in state.notified.items() if name in names}

    def _lasting_conditions(self, state: AlertState, now: datetime, depth: int | None, failures: int) -> list[Alert]:
        """What is a matter for an alert only when it lasts."""
        if depth is not None:
            state.backlog_since = (state.backlog_since or now) if depth > BACKLOG_THRESHOLD else None
        state.failure_times = [time for time in state.failure_times if now - time < FAILURE_WINDOW]
        state.failure_times = (state.failure_times + [now] * failures)[-2 * FAILURE_ALERT_THRESHOLD :]
        found = []
        if state.backlog_since and now - state.backlog_since >= BACKLOG_DURATION:
            found.append(
                Alert("queue-deep", "P2", f"More than {BACKLOG_THRESHOLD} documents have been waiting for 15 minutes.")
            )
        if len(state.failure_times) > FAILURE_ALERT_THRESHOLD:
            found.append(
                Alert("many-failures", "P2", "Many documents could not be sent to Paperless in the last hour.")
            )
        return found

    async def _load(self) -> AlertState:
        try:
            return AlertState.parse((await self.store.get(ALERTS_KEY)).data)
        except ObjectNotFound:
            return AlertState()

    async def _save(self, state: AlertState) -> None:
        async with self.store.writer(ALERTS_KEY, content_type="application/json") as writer:
            await writer.write(state.to_bytes())


class InvalidAlertUrl(Invalid):
    """MUNIMENT_ALERT_URLS contains an address that Apprise does not support. See https://github.com/caronc/apprise"""


class AppriseNotifier(Notifier):
    def __init__(self, urls: str) -> None:
        self._apprise = Apprise()
        for url in urls.replace(",", " ").split():
            if not self._apprise.add(url):
                raise InvalidAlertUrl  # without the address: it may hold a password

    async def send(self, title: str, body: str) -> bool:
        if not len(self._apprise):
            return True
        return bool(await self._apprise.async_notify(body=body, title=title, body_format=NotifyFormat.TEXT))
