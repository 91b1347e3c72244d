"""One pass over the queue under the lease, and a pass every interval."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import TypeVar

import structlog

from muniment.errors import MunimentError
from muniment.handover.archiver.cleanup import list_abandoned, resolve_abandoned, resolve_incomplete
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.consumer_progress import ConsumerProgress
from muniment.handover.archiver.content_groups import group_by_content, process_group
from muniment.handover.archiver.dead_letters import record_failure
from muniment.handover.archiver.job_state import JobAction, JobResult
from muniment.handover.archiver.lease import Lease, hold_lease
from muniment.handover.archiver.monitoring import Alert, Alerts, ArchiverMetrics, log_job
from muniment.handover.archiver.paperless_objects import NamePrefix, PaperlessObjects, TrashCache
from muniment.handover.archiver.pass_context import (
    ArchiverOptions,
    CircuitBreaker,
    PassContext,
    PassOutcome,
    PassReport,
)
from muniment.handover.archiver.upload_pipeline import UploadPipeline
from muniment.handover.description import DocumentDescription
from muniment.handover.internal.client import InternalApiClient
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.queue import HandoverStores
from muniment.handover.queue_listing import ContentIndex, QueueEntry, count_jobs, list_backlog

Item = TypeVar("Item")

log = structlog.get_logger()

LEASE_RETRY_DELAY = timedelta(seconds=30)
"""Delay after a pass that found another archiver. That one may have died, and its lease ends within two minutes."""
_OLDEST_FIRST, _RANDOM_SAMPLES = 2, 2


@dataclass
class Archiver:
    """Moves jobs from the queue to Paperless, one pass at a time."""

    stores: HandoverStores
    paperless: PaperlessClient
    api: InternalApiClient
    alerts: Alerts
    options: ArchiverOptions
    name_prefix: NamePrefix = field(default_factory=NamePrefix)
    configured_tag_ids: Mapping[str, int] = field(default_factory=dict)
    description: DocumentDescription = field(default_factory=DocumentDescription)
    clock: Clock = field(default_factory=Clock)
    metrics: ArchiverMetrics = field(default_factory=ArchiverMetrics)
    random: Random = field(default_factory=Random)

    async def run_forever(self, interval: timedelta) -> None:
        """Run a pass, wait for the interval, and start again."""
        while True:
            report = await self.run()
            is_lease_held = report.outcome is PassOutcome.LEASE_HELD
            delay = min(LEASE_RETRY_DELAY, interval) if is_lease_held else interval
            await self.clock.sleep(delay.total_seconds())

    async def run(self) -> PassReport:
        """Run one pass under the lease. Errors of the pass do not propagate: they are in the report."""
        report = PassReport()
        try:
            async with hold_lease(self.stores.queue, self.clock) as lease:
                await self._run_pass(self._build_context(lease, report))
        except MunimentError as error:
            report.stopped_by = report.stopped_by or error
        await self._publish_report(report)
        return report

    async def close(self) -> None:
        await self.stores.close()
        await self.paperless.close()
        await self.api.close()

    def build_objects(self) -> PaperlessObjects:
        return PaperlessObjects(self.paperless, self.api, self.name_prefix, self.configured_tag_ids, self.description)

    async def _run_pass(self, context: PassContext) -> None:
        report, breaker = context.report, context.breaker
        backlog = await list_backlog(self.stores.queue, self.options.batch_size)
        report.queue_depth = backlog.depth
        self.metrics.queue_depth.set(backlog.depth)
        try:
            await self.paperless.check_access()  # also with an empty queue: a wrong token is found before it matters
            entries = with_random_samples(backlog.jobs, self.random)
            groups = await group_by_content(self.stores.queue, backlog, entries)
            await self._process_all(context, groups, self._process_group)
            await self._process_all(context, backlog.incomplete, resolve_incomplete)
            abandoned = await list_abandoned(self.stores.queue, self.random)
            await self._process_all(context, abandoned, resolve_abandoned)
            await self._record_failures(context, backlog.depth)
            report.dead_letters = await count_jobs(self.stores.dead_letters)
            self.metrics.dlq_depth.set(report.dead_letters)
        finally:
            report.stopped_by, report.nothing_accepted = breaker.stopped_by, breaker.nothing_accepted
            report.stalled = context.consumer.describe_stall()

    def _build_context(self, lease: Lease, report: PassReport) -> PassContext:
        return PassContext(
            self.stores,
            self.paperless,
            self.api,
            self.build_objects(),
            self.clock,
            self.options,
            lease,
            CircuitBreaker(self.clock.now() + self.options.task_wait_budget),
            TrashCache(self.paperless),
            ConsumerProgress(self.paperless, self.clock, self.options.task_deadline),
            UploadPipeline(self.options.concurrency, self.options.uploads_ahead),
            ContentIndex(self.stores.dead_letters),
            report,
        )

    async def _process_all(
        self,
        context: PassContext,
        items: Iterable[Item],
        process: Callable[[PassContext, Item], Awaitable[JobResult | None]],
    ) -> None:
        """Process the items concurrently and publish their results.

        When the breaker opens, items that were started are finished and no more are started.
        """
        remaining = iter(items)

        async def process_next() -> bool:
            if context.breaker.is_open or (item := next(remaining, None)) is None:
                return False
            try:
                result = await process(context, item)
            except MunimentError as error:
                context.breaker.stop(error)
                return False
            if result is not None:
                self._publish(context.report, result)
            return True

        async def work() -> None:
            is_left = True
            while is_left:
                async with context.pipeline.slot():
                    is_left = await process_next()

        async with asyncio.TaskGroup() as workers:
            for _ in range(context.pipeline.max_jobs):
                workers.create_task(work())

    async def _process_group(self, context: PassContext, keys: Sequence[JobKey]) -> None:
        """Process the jobs of one content, and publish each result at once: a later one may stop the pass."""
        async for result in process_group(context, keys):
            self._publish(context.report, result)

    async def _record_failures(self, context: PassContext, depth: int) -> None:
        """Record the failures of this pass, unless it was stopped: an outage must not cost a job an attempt."""
        if context.breaker.stopped_by is not None:
            return
        for failed in context.report.failures:
            dead_letter = await record_failure(context, failed, depth=depth)
            if dead_letter is not None:
                self._publish(context.report, dead_letter)

    def _publish(self, report: PassReport, result: JobResult) -> None:
        """Add the result of a job to the report, the metrics and the log."""
        now = self.clock.now()
        report.actions[result.action] += 1
        if result.failure is not None:
            report.failures.append(result)
        if result.action is JobAction.ARCHIVED and result.sidecar is not None:
            self.metrics.processed.inc()
            self.metrics.latency.observe(max(0.0, (now - result.sidecar.timestamp).total_seconds()))
        elif result.is_failed_in_pass:
            report.failed_jobs += 1
            self.metrics.failed.inc()
        log_job(result, now)

    async def _publish_report(self, report: PassReport) -> None:
        """Publish the end of a pass: alerts, metrics and its log event."""
        if report.outcome is PassOutcome.NEEDS_OPERATOR:
            self.metrics.auth_errors.inc()
        if report.outcome is not PassOutcome.LEASE_HELD:
            await self.alerts.update(
                _alert_conditions(report),
                depth=report.queue_depth,
                failures=report.failed_jobs,
                is_complete=report.stopped_by is None,
            )
        self.metrics.last_pass.set(self.clock.now().timestamp())
        level = _LEVELS.get(report.outcome, "error")
        getattr(log, level)("archive.pass", severity=level.upper(), **report.as_json)


_LEVELS = {PassOutcome.DONE: "info", PassOutcome.LEASE_HELD: "warning"}


def _alert_conditions(report: PassReport) -> list[Alert]:
    alerts, new_dead_letters = [], report.actions[JobAction.DEAD_LETTER]
    if report.outcome is PassOutcome.NEEDS_OPERATOR and report.stopped_by:
        cause = report.stopped_by.message
        alerts.append(Alert("line-stopped", "P1", f"Nothing is being sent to Paperless: {cause}", cause=cause))
    if report.stalled:
        alerts.append(Alert("consumer_stalled", "P1", report.stalled))
    if report.dead_letters or new_dead_letters:
        message = (
            f"{report.dead_letters or 0} documents could not be sent to Paperless ({new_dead_letters} new). "
            "See `muniment archiver dlq list`."
        )
        alerts.append(Alert("dead-letters", "P1", message, repeat=new_dead_letters > 0))
    if orphans := report.actions[JobAction.ORPHAN]:
        message = f"{orphans} jobs have no PDF or no sidecar. They become dead letters after 7 days."
        alerts.append(Alert("orphans", "P2", message))
    if report.warnings:
        alerts.append(Alert("reports", "P2", "\n".join(report.warnings), repeat=True))
    return alerts


def with_random_samples(entries: Sequence[QueueEntry], random: Random) -> list[QueueEntry]:
    """Return the entries oldest first, but with two others, chosen at random, near the front.

    A pass in which nothing is accepted ends early, and rejected jobs stay the oldest. Without the samples, a few files
    that Paperless cannot process would block all others.
    """
    first, rest = list(entries[:_OLDEST_FIRST]), list(entries[_OLDEST_FIRST:])
    samples = random.sample(range(len(rest)), min(_RANDOM_SAMPLES, len(rest)))
    return [*first, *(rest[i] for i in samples), *(job for i, job in enumerate(rest) if i not in samples)]
