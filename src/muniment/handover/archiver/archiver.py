"""One pass over the queue under the lease, and a pass every interval."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import TypeVar

import structlog

from muniment.errors import MunimentError
from muniment.handover.archiver import lease
from muniment.handover.archiver.cleanup import list_abandoned, resolve_incomplete
from muniment.handover.archiver.cleanup import resolve_abandoned as tend_late
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.completion import complete
from muniment.handover.archiver.dead_letters import FailedJob, move_to_dead_letters, record_failure
from muniment.handover.archiver.job import ensure_in_paperless, load_job
from muniment.handover.archiver.job_state import JobDeferred, JobFailed, JobRejected, SidecarChanged, VersionedSidecar
from muniment.handover.archiver.lease import Lease
from muniment.handover.archiver.monitoring import Alert, Alerts, ArchiverMetrics, JobLogEntry
from muniment.handover.archiver.paperless_objects import NamePrefix, PaperlessObjects, TrashCache
from muniment.handover.archiver.pass_context import (
    ArchiverOptions,
    CircuitBreaker,
    PassContext,
    PassOutcome,
    PassReport,
)
from muniment.handover.archiver.retry_policy import with_retries
from muniment.handover.internal.client import InternalApiClient
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.queue import HandoverStores
from muniment.handover.queue_listing import QueueEntry, count_jobs, list_backlog

Item = TypeVar("Item")


@dataclass
class PassRunner:
    context: PassContext
    metrics: ArchiverMetrics
    report: PassReport
    failures: list[FailedJob] = field(default_factory=list)

    async def process_jobs(self, jobs: Iterable[QueueEntry]) -> None:
        await self._for_each(iter(jobs), self._process_job)

    async def process_incomplete(self, entries: Iterable[QueueEntry]) -> None:
        await self._for_each(iter(entries), self._process_incomplete_entry)

    async def process_abandoned(self, keys: Iterable[str]) -> None:
        await self._for_each(iter(keys), self._process_abandoned_upload)

    async def record_failures(self, depth: int) -> None:
        """Also after the line was stopped? No: then no count is touched."""
        for failure in self.failures:
            if self.context.breaker.stopped_by is None and (
                line := await record_failure(self.context, failure, depth=depth)
            ):
                self._publish_entry(line)

    async def _for_each(self, items: Iterator[Item], work: Callable[[Item], Awaitable[None]]) -> None:
        async with asyncio.TaskGroup() as workers:
            for _ in range(self.context.options.concurrency):
                workers.create_task(self._consume(items, work))

    async def _consume(self, items: Iterator[Item], work: Callable[[Item], Awaitable[None]]) -> None:
        """One after the other, from the line that all share; those in hand are finished when the pass closes."""
        while not self.context.breaker.is_open and (job := next(items, None)) is not None:
            try:
                await work(job)
            except MunimentError as error:
                self.context.breaker.stop(error)

    async def _process_job(self, entry: QueueEntry) -> None:
        key, started_at, noted = entry.key, self.context.clock.now(), list[VersionedSidecar]()
        line = JobLogEntry(key, "archived", started_at=started_at)
        try:
            document_id = await with_retries(self.context, lambda: self._process_once(key, noted))
            line = JobLogEntry(key, "archived", noted[-1].sidecar, started_at, document_id)
            self.metrics.processed.inc()
            self.metrics.latency.observe(
                max(0.0, (self.context.clock.now() - noted[-1].sidecar.timestamp).total_seconds())
            )
        except (SidecarChanged, JobDeferred) as error:
            line = JobLogEntry(key, "left", noted[-1].sidecar if noted else None, started_at, error=error.message)
        except JobFailed as error:
            line = JobLogEntry(key, "failed", noted[-1].sidecar if noted else None, started_at, error=error.message)
            self._add_failure(FailedJob(key, error))
        except JobRejected as error:
            sidecar = await move_to_dead_letters(self.context, key, error.message)
            line = JobLogEntry(key, "dead_letter", sidecar, started_at, error=error.message)
            self.metrics.failed.inc()
        self._publish_entry(line)

    async def _process_once(self, key: JobKey, noted: list[VersionedSidecar]) -> int:
        noted.append(await load_job(self.context, key))
        document = await ensure_in_paperless(self.context, noted[-1])
        await complete(self.context, noted[-1], document)
        return document.id

    async def _process_incomplete_entry(self, entry: QueueEntry) -> None:
        try:
            line = await with_retries(self.context, lambda: resolve_incomplete(self.context, entry))
        except (SidecarChanged, JobDeferred, JobFailed, JobRejected):
            return  # the next pass looks again
        if line is not None:
            self._publish_entry(line)

    async def _process_abandoned_upload(self, key: str) -> None:
        with suppress(SidecarChanged, JobDeferred, JobFailed, JobRejected):  # the next pass looks again
            await with_retries(self.context, lambda: tend_late(self.context, key))

    def _add_failure(self, failure: FailedJob) -> None:
        self.metrics.failed.inc()
        self.failures.append(failure)
        if not failure.error.is_job_fault:
            self.context.breaker.record_failure(failure.key)

    def _publish_entry(self, entry: JobLogEntry) -> None:
        self.report.actions[entry.action] += 1
        entry.write(self.context.clock.now())


log = structlog.get_logger()


@dataclass
class Archiver:
    stores: HandoverStores
    paperless: PaperlessClient
    api: InternalApiClient
    alerts: Alerts
    options: ArchiverOptions
    name_prefix: NamePrefix = field(default_factory=NamePrefix)
    configured_tag_ids: Mapping[str, int] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    metrics: ArchiverMetrics = field(default_factory=ArchiverMetrics)
    random: Random = field(default_factory=Random)
    lease_duration: timedelta = lease.LEASE_DURATION

    async def run(self) -> PassReport:
        """Never raises for what may happen to a pass: the report says it."""
        report = PassReport()
        try:
            async with lease.hold_lease(self.stores.queue, self.clock, duration=self.lease_duration) as held:
                await self._run_pass(held, report)
        except MunimentError as error:
            report.stopped_by = report.stopped_by or error
        await self._publish(report)
        return report

    async def close(self) -> None:
        await self.stores.close()
        await self.paperless.close()
        await self.api.close()

    def build_objects(self) -> PaperlessObjects:
        return PaperlessObjects(self.paperless, self.api, self.name_prefix, self.configured_tag_ids)

    async def _run_pass(self, held: Lease, report: PassReport) -> None:
        listing = await list_backlog(self.stores.queue, self.options.batch_size)
        report.queue_depth = listing.depth
        self.metrics.queue_depth.set(listing.depth)
        tools = self._build_context(held)
        passing = PassRunner(tools, self.metrics, report)
        try:
            if listing.depth:
                await self.paperless.version()  # a wrong token or address is found before any job is touched
            await passing.process_jobs(with_random_samples(listing.jobs, self.random))
            await passing.process_incomplete(listing.incomplete)
            await passing.process_abandoned(await list_abandoned(self.stores.queue, self.random))
            await passing.record_failures(listing.depth)
            report.dead_letters = await count_jobs(self.stores.dead_letters)
            self.metrics.dlq_depth.set(report.dead_letters)
        finally:
            report.warnings, report.stopped_by = tools.warnings, tools.breaker.stopped_by
            report.nothing_accepted = tools.breaker.nothing_accepted

    def _build_context(self, held: Lease) -> PassContext:
        pace = CircuitBreaker(self.clock.now() + self.options.task_wait_budget)
        trash = TrashCache(self.paperless)
        return PassContext(
            self.stores, self.paperless, self.api, self.build_objects(), self.clock, self.options, held, pace, trash
        )

    async def _publish(self, report: PassReport) -> None:
        if report.outcome is PassOutcome.LINE_STOPPED:
            self.metrics.auth_errors.inc()
        if report.outcome is not PassOutcome.ANOTHER_AT_WORK:
            failures = report.actions["failed"] + report.actions["dead_letter"]
            is_whole = report.stopped_by is None
            depth = report.queue_depth if is_whole else None
            await self.alerts.update(_alert_conditions(report), depth=depth, failures=failures)
        self.metrics.last_pass.set(self.clock.now().timestamp())
        write = log.info if report.outcome is PassOutcome.DONE else log.error
        write("archive.pass", severity="INFO" if report.outcome is PassOutcome.DONE else "ERROR", **report.as_json)


def _alert_conditions(report: PassReport) -> list[Alert]:
    found = []
    if report.outcome is PassOutcome.LINE_STOPPED and report.stopped_by:
        found.append(Alert("line-stopped", "P1", f"Nothing is being sent to Paperless: {report.stopped_by.message}"))
    if report.dead_letters or report.actions["dead_letter"]:
        count, new = report.dead_letters or 0, report.actions["dead_letter"]
        message = f"{count} documents could not be sent to Paperless ({new} new). See `muniment archiver dlq list`."
        found.append(Alert("dead-letters", "P1", message, repeat=new > 0))
    if report.actions["orphan"]:
        message = f"{report.actions['orphan']} jobs have no PDF or no sidecar. They become dead letters after 7 days."
        found.append(Alert("orphans", "P2", message))
    if report.warnings:
        found.append(Alert("reports", "P2", "\n".join(report.warnings), repeat=True))
    return found


LEASE_RETRY_DELAY = timedelta(seconds=30)
"""After a pass that found another archiver: it may have died, and its lease ends within two minutes."""


async def run_forever(
    archiver: Archiver, interval: timedelta, on_pass: Callable[[PassReport], None] | None = None
) -> None:
    """From the end of one pass to the beginning of the next."""
    while True:
        report = await archiver.run()
        if on_pass:
            on_pass(report)
        is_held = report.outcome is PassOutcome.ANOTHER_AT_WORK
        await archiver.clock.sleep((min(LEASE_RETRY_DELAY, interval) if is_held else interval).total_seconds())


def with_random_samples(entries: Sequence[QueueEntry], random: Random) -> list[QueueEntry]:
    """The oldest first, but with two of the others, taken at random, near the front.

    A pass in which nothing is accepted ends early, and what was not accepted stays the oldest: without them a few files
    that Paperless chokes on would hold up all others for ever.
    """
    first, rest = list(entries[:_OLDEST_FIRST]), list(entries[_OLDEST_FIRST:])
    samples = random.sample(range(len(rest)), min(_RANDOM_SAMPLES, len(rest)))
    return [*first, *(rest[i] for i in samples), *(job for i, job in enumerate(rest) if i not in samples)]


_OLDEST_FIRST, _RANDOM_SAMPLES = 2, 2
