"""One pass over the queue: whoever holds the lease lists it, works off the oldest, and tells what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import structlog

from muniment.archival.archiver import lease
from muniment.archival.archiver.alerts import Alert, Alerts
from muniment.archival.archiver.clock import Clock
from muniment.archival.archiver.late import list_late
from muniment.archival.archiver.lease import Lease
from muniment.archival.archiver.listing import count_jobs, list_queue, spread
from muniment.archival.archiver.metrics import Metrics
from muniment.archival.archiver.names import Label
from muniment.archival.archiver.objects import Objects
from muniment.archival.archiver.pace import Pace
from muniment.archival.archiver.report import Outcome, PassReport
from muniment.archival.archiver.round import Round
from muniment.archival.archiver.tools import Options, Tools
from muniment.archival.archiver.trash import TrashView
from muniment.archival.internal_client import InternalApi
from muniment.archival.paperless.client import Paperless
from muniment.archival.stores import ArchiveStores
from muniment.errors import MunimentError

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
        found.append(Alert("line-stopped", "P1", f"Nothing is archived: {report.stopped_by.message}"))
    if report.dead_letters or report.actions["dead_letter"]:
        count, new = report.dead_letters or 0, report.actions["dead_letter"]
        message = f"{count} documents could not be archived, {new} of them now. See `muniment archiver dlq list`."
        found.append(Alert("dead-letters", "P1", message, is_news=new > 0))
    if report.actions["orphan"]:
        message = (
            f"{report.actions['orphan']} jobs lack their PDF or their sidecar; after 7 days they are dead letters."
        )
        found.append(Alert("orphans", "P2", message))
    if report.reports:
        found.append(Alert("reports", "P2", "\n".join(report.reports), is_news=True))
    return found
