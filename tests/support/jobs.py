"""A queue with real workers, and ways to wait for its state."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import EmbeddingHandler, JobHandlers, PeriodicTask, RunHandler, RunJob
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from muniment.storage.tasks.procrastinate.worker import ProcrastinateWorker
from tests.support.cluster import service_login
from tests.support.seed import Person, Seed

HEARTBEAT = timedelta(seconds=0.2)
STALLED_AFTER = timedelta(seconds=1)


PATIENCE_SECONDS = 120
"""Ends a test that hangs. Long enough for a busy machine; nothing is measured by it."""


async def wait_until(is_so: Callable[[], Any], *, within: float = PATIENCE_SECONDS) -> Any:
    """Return the first true result of `is_so`; fail if there is none in time."""
    deadline = time.monotonic() + within
    while not (answer := is_so()):
        assert time.monotonic() < deadline, f"not within {within} s"
        await asyncio.sleep(0.02)
    return answer


@asynccontextmanager
async def running_worker(
    address: DatabaseAddress,
    handler: RunHandler | None,
    *,
    embed: EmbeddingHandler | None = None,
    periodic: Sequence[PeriodicTask] = (),
    concurrency: int = 1,
    grace: timedelta = timedelta(seconds=0.2),
    stalled_after: timedelta = STALLED_AFTER,
) -> AsyncIterator[asyncio.Task[None]]:
    """Run a worker in this process, stopped at the end as by SIGTERM."""
    worker = ProcrastinateWorker(
        service_login(address),
        handlers=JobHandlers(handler, embed) if handler else None,
        periodic=periodic,
        concurrency=concurrency,
        heartbeat=HEARTBEAT,
        stalled_after=stalled_after,
        grace=grace,
        connect_timeout=timedelta(seconds=1),
    )
    task = asyncio.create_task(worker.run())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@dataclass
class RecordingHandler:
    """Handler that records its jobs and then behaves as configured."""

    behave: Callable[[RunJob], Any] = lambda _: None
    began: list[RunJob] = field(default_factory=list)
    stopped: list[RunJob] = field(default_factory=list)

    async def __call__(self, job: RunJob) -> None:
        self.began.append(job)
        try:
            answer = self.behave(job)
            if asyncio.iscoroutine(answer):
                await answer
        except asyncio.CancelledError:
            self.stopped.append(job)
            raise

    @property
    def queues(self) -> list[str]:
        return [job.queue for job in self.began]


async def never_finish(_: RunJob) -> None:
    await asyncio.Event().wait()


def raising(error: Exception) -> Callable[[RunJob], None]:
    def behave(_: RunJob) -> None:
        raise error

    return behave


class Enqueuer:
    """A user with a knowledge base whose documents are enqueued."""

    def __init__(self, database: Database, seed: Seed) -> None:
        self._database = database
        self._seed = seed
        self.owner: Person = seed.person()
        self.kb_id = seed.knowledge_base(self.owner)

    def document(self, **columns: Any) -> UUID:
        number = self._seed.one("SELECT count(*) FROM documents")
        return self._seed.document(self.kb_id, self.owner, name=f"{number}.pdf", status="pending", **columns)

    def known_document(self) -> UUID:
        """Add a document whose content has been read already."""
        document_id = self.document()
        self._seed.execute(
            "INSERT INTO artifacts_full_text (full_text_uri, full_text_sha256, total_pages, total_words, methods,"
            " timings, problems, organization_id, content_hmac, algorithm_version, params_fingerprint)"
            " SELECT 'pack', '', 1, 1, '{}', '{}', '[]', organization_id, content_hmac, 1, 'f' FROM documents"
            " WHERE id = %s",
            document_id,
        )
        return document_id

    async def enqueue(self, document_id: UUID | None = None, **columns: Any) -> UUID:
        """Enqueue a run of this document, or of a new one with these columns."""
        document_id = document_id or self.document(**columns)
        async with self._database.work(self.owner.principal) as work:
            return await ProcrastinateQueue().enqueue_run(work, document_id, 1)

    async def revoke(self, run_id: UUID) -> bool:
        document_id = self._seed.one("SELECT document_id FROM document_processing_runs WHERE run_id = %s", run_id)
        async with self._database.work(self.owner.principal) as work:
            return await ProcrastinateQueue().revoke_run(work, document_id, 1)

    def jobs(self) -> list[tuple[str, str, int]]:
        """Return queue, status and attempts of all document jobs."""
        return self._seed.rows(
            "SELECT queue_name, status::text, attempts FROM procrastinate_jobs"
            " WHERE task_name = 'processing.run' ORDER BY id"
        )
