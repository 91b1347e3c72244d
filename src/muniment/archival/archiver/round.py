"""The jobs of one pass, some at a time. What stops the line stops the pass; what is wrong with a job ends the job."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from muniment.archival.archiver.closing import close
from muniment.archival.archiver.dead_letters import bury
from muniment.archival.archiver.failures import Failure, settle
from muniment.archival.archiver.job import bring_in, take
from muniment.archival.archiver.late import resolve_abandoned as tend_late
from muniment.archival.archiver.lines import JobLine
from muniment.archival.archiver.metrics import Metrics
from muniment.archival.archiver.notes import Changed, Noted
from muniment.archival.archiver.orphans import resolve_incomplete
from muniment.archival.archiver.outcomes import Dead, Failed, Left
from muniment.archival.archiver.report import PassReport
from muniment.archival.archiver.tools import Tools
from muniment.archival.archiver.tries import with_patience
from muniment.archival.dead_letters.jobs import ListedJob
from muniment.archival.keys import JobKey
from muniment.errors import MunimentError

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
