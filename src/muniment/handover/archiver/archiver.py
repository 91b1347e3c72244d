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
from muniment.handover.archiver.cleanup import list_late, resolve_incomplete
from muniment.handover.archiver.cleanup import resolve_abandoned as tend_late
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.completion import close
from muniment.handover.archiver.dead_letters import Failure, bury, settle
from muniment.handover.archiver.job import bring_in, take
from muniment.handover.archiver.job_state import Changed, Dead, Failed, Left, Noted
from muniment.handover.archiver.lease import Lease
from muniment.handover.archiver.monitoring import Alert, Alerts, JobLine, Metrics
from muniment.handover.archiver.paperless_objects import Label, Objects, TrashView
from muniment.handover.archiver.pass_context import Options, Outcome, Pace, PassReport, Tools
from muniment.handover.archiver.retry_policy import with_patience
from muniment.handover.internal.client import InternalApi
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import Paperless
from muniment.handover.queue import ArchiveStores
from muniment.handover.queue_listing import ListedJob, count_jobs, list_queue

Item = TypeVar("Item")


@dataclass
class Round:
    tools: Tools
    metrics: Metrics
    report: PassReport
    failures: list[Failure] = field(default_factory=list)

    async def archive(self, jobs: Iterable[ListedJob]) -> None:
        await self._each(iter(jobs), self._archive)

    async def tend_halves(self, halves: Iterable[ListedJob]) -> None:
        await self._each(iter(halves), self._tend)

    async def tend_late(self, notes: Iterable[str]) -> None:
        await self._each(iter(notes), self._tend_late)

    async def settle_failures(self, depth: int) -> None:
        """Also after the line was stopped? No: then no count is touched."""
        for failure in self.failures:
            if self.tools.pace.stopped_by is None and (line := await settle(self.tools, failure, depth=depth)):
                self._write(line)

    async def _each(self, jobs: Iterator[Item], work: Callable[[Item], Awaitable[None]]) -> None:
        async with asyncio.TaskGroup() as workers:
            for _ in range(self.tools.options.concurrency):
                workers.create_task(self._work_off(jobs, work))

    async def _work_off(self, jobs: Iterator[Item], work: Callable[[Item], Awaitable[None]]) -> None:
        """One after the other, from the line that all share; those in hand are finished when the pass closes."""
        while not self.tools.pace.is_closed and (job := next(jobs, None)) is not None:
            try:
                await work(job)
            except MunimentError as error:
                self.tools.pace.stop(error)

    async def _archive(self, job: ListedJob) -> None:
        key, started_at, noted = job.key, self.tools.clock.now(), list[Noted]()
        line = JobLine(key, "archived", started_at=started_at)
        try:
            document_id = await with_patience(self.tools, lambda: self._once(key, noted))
            line = JobLine(key, "archived", noted[-1].sidecar, started_at, document_id)
            self.metrics.processed.inc()
            self.metrics.latency.observe(
                max(0.0, (self.tools.clock.now() - noted[-1].sidecar.timestamp).total_seconds())
            )
        except (Changed, Left) as error:
            line = JobLine(key, "left", noted[-1].sidecar if noted else None, started_at, error=error.message)
        except Failed as error:
            line = JobLine(key, "failed", noted[-1].sidecar if noted else None, started_at, error=error.message)
            self._note_failed(Failure(key, error))
        except Dead as error:
            sidecar = await bury(self.tools, key, error.message)
            line = JobLine(key, "dead_letter", sidecar, started_at, error=error.message)
            self.metrics.failed.inc()
        self._write(line)

    async def _once(self, key: JobKey, noted: list[Noted]) -> int:
        noted.append(await take(self.tools, key))
        document = await bring_in(self.tools, noted[-1])
        await close(self.tools, noted[-1], document)
        return document.id

    async def _tend(self, half: ListedJob) -> None:
        try:
            line = await with_patience(self.tools, lambda: resolve_incomplete(self.tools, half))
        except (Changed, Left, Failed, Dead):
            return  # the next pass looks again
        if line is not None:
            self._write(line)

    async def _tend_late(self, note: str) -> None:
        with suppress(Changed, Left, Failed, Dead):  # the next pass looks again
            await with_patience(self.tools, lambda: tend_late(self.tools, note))

    def _note_failed(self, failure: Failure) -> None:
        self.metrics.failed.inc()
        self.failures.append(failure)
        if not failure.error.is_certain:
            self.tools.pace.note_failed(failure.key)

    def _write(self, line: JobLine) -> None:
        self.report.actions[line.action] += 1
        line.write(self.tools.clock.now())


log = structlog.get_logger()


@dataclass
class Archiver:
    stores: ArchiveStores
    paperless: Paperless
    api: InternalApi
    alerts: Alerts
    options: Options
    label: Label = field(default_factory=Label)
    given_tags: Mapping[str, int] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    metrics: Metrics = field(default_factory=Metrics)
    random: Random = field(default_factory=Random)
    lease_duration: timedelta = lease.DURATION

    async def run(self) -> PassReport:
        """Never raises for what may happen to a pass: the report says it."""
        report = PassReport()
        try:
            async with lease.held(self.stores.queue, self.clock, duration=self.lease_duration) as held:
                await self._run(held, report)
        except MunimentError as error:
            report.stopped_by = report.stopped_by or error
        await self._tell(report)
        return report

    async def close(self) -> None:
        await self.stores.close()
        await self.paperless.close()
        await self.api.close()

    def objects(self) -> Objects:
        return Objects(self.paperless, self.api, self.label, self.given_tags)

    async def _run(self, held: Lease, report: PassReport) -> None:
        listing = await list_queue(self.stores.queue, self.options.batch)
        report.queue_depth = listing.depth
        self.metrics.queue_depth.set(listing.depth)
        tools = self._tools(held)
        passing = Round(tools, self.metrics, report)
        try:
            if listing.depth:
                await self.paperless.version()  # a wrong token or address is found before any job is touched
            await passing.archive(spread(listing.jobs, self.random))
            await passing.tend_halves(listing.halves)
            await passing.tend_late(await list_late(self.stores.queue, self.random))
            await passing.settle_failures(listing.depth)
            report.dead_letters = await count_jobs(self.stores.dead_letters)
            self.metrics.dlq_depth.set(report.dead_letters)
        finally:
            report.reports, report.stopped_by = tools.reports, tools.pace.stopped_by
            report.was_in_vain = tools.pace.was_in_vain

    def _tools(self, held: Lease) -> Tools:
        pace = Pace(self.clock.now() + self.options.follows_in_pass)
        trash = TrashView(self.paperless)
        return Tools(self.stores, self.paperless, self.api, self.objects(), self.clock, self.options, held, pace, trash)

    async def _tell(self, report: PassReport) -> None:
        if report.outcome is Outcome.LINE_STOPPED:
            self.metrics.auth_errors.inc()
        if report.outcome is not Outcome.ANOTHER_AT_WORK:
            failures = report.actions["failed"] + report.actions["dead_letter"]
            is_whole = report.stopped_by is None
            depth = report.queue_depth if is_whole else None
            await self.alerts.settle(_conditions(report), depth=depth, failures=failures)
        self.metrics.last_pass.set(self.clock.now().timestamp())
        write = log.info if report.outcome is Outcome.DONE else log.error
        write("archive.pass", severity="INFO" if report.outcome is Outcome.DONE else "ERROR", **report.facts)


def _conditions(report: PassReport) -> list[Alert]:
    found = []
    if report.outcome is Outcome.LINE_STOPPED and report.stopped_by:
        found.append(Alert("line-stopped", "P1", f"Nothing is being sent to Paperless: {report.stopped_by.message}"))
    if report.dead_letters or report.actions["dead_letter"]:
        count, new = report.dead_letters or 0, report.actions["dead_letter"]
        message = f"{count} documents could not be sent to Paperless ({new} new). See `muniment archiver dlq list`."
        found.append(Alert("dead-letters", "P1", message, is_news=new > 0))
    if report.actions["orphan"]:
        message = f"{report.actions['orphan']} jobs have no PDF or no sidecar. They become dead letters after 7 days."
        found.append(Alert("orphans", "P2", message))
    if report.reports:
        found.append(Alert("reports", "P2", "\n".join(report.reports), is_news=True))
    return found


AGAIN_SOON = timedelta(seconds=30)
"""After a pass that found another archiver: it may have died, and its lease ends within two minutes."""


async def watch(archiver: Archiver, interval: timedelta, on_pass: Callable[[PassReport], None] | None = None) -> None:
    """From the end of one pass to the beginning of the next."""
    while True:
        report = await archiver.run()
        if on_pass:
            on_pass(report)
        is_held = report.outcome is Outcome.ANOTHER_AT_WORK
        await archiver.clock.sleep((min(AGAIN_SOON, interval) if is_held else interval).total_seconds())


def spread(jobs: Sequence[ListedJob], random: Random) -> list[ListedJob]:
    """The oldest first, but with two of the others, taken at random, near the front.

    A pass in which nothing is accepted ends early, and what was not accepted stays the oldest: without them a few files
    that Paperless chokes on would hold up all others for ever.
    """
    first, rest = list(jobs[:_SAMPLED]), list(jobs[_SAMPLED:])
    samples = random.sample(range(len(rest)), min(_SAMPLES, len(rest)))
    return [*first, *(rest[i] for i in samples), *(job for i, job in enumerate(rest) if i not in samples)]


_SAMPLED, _SAMPLES = 2, 2
