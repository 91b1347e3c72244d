"""One organization in which the same run is repeated, each time with a new worker object."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

from muniment.artifacts.keys import ReadingVariant, reading_variant
from muniment.processing.pipeline.context import WaitForVectors
from muniment.processing.pipeline.processor import RunProcessor
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.tasks.port import MoveToQueue
from tests.faults.effects import RecordingObjectStore, RecordingReader, RunEffectRecorder
from tests.faults.results import Results, everything, referenced, stored
from tests.processing.worker_fixture import PAGES, WorkerFixture
from tests.support.effects import SimulatedCrash
from tests.support.seed import Seed

SUBJECT = "subject.pdf"
"""The document whose run is interrupted."""
OLDER, NEWER = reading_variant({"of": "the tests"}), reading_variant({"of": "a newer reader"})


@dataclass
class FaultHarness:
    address: DatabaseAddress
    """Address of the database, as the superuser."""
    folder: Path
    worker_env: WorkerFixture
    content: bytes = b"bytes that two people have"
    _living: dict[ReadingVariant, RunProcessor] = field(default_factory=dict)

    @property
    def seed(self) -> Seed:
        return self.worker_env.seed

    async def clear(self) -> None:
        """Delete all documents of the organization."""
        for table in ("documents", "artifacts_full_text", "deletions", "procrastinate_jobs", "indexing_variants"):
            self.seed.execute(f"DELETE FROM {table}")
        for key in await stored(self.worker_env.objects):
            await self.worker_env.objects.delete(key)
        self.worker_env.reader.pages, self.worker_env.reader.error, self.worker_env.reader.opened = PAGES, None, 0
        self.worker_env.reading = OLDER

    async def finish(self, document_id: UUID) -> str:
        """Process the document without interruption. Return the queue in which its run ended."""
        process = self._living.get(self.worker_env.reading) or self._living.setdefault(
            self.worker_env.reading, self.worker_env.worker()
        )
        return await self.worker_env.process_with(process, document_id)

    @asynccontextmanager
    async def process(self, effects: RunEffectRecorder) -> AsyncIterator[RunProcessor]:
        """Yield a new worker with its own connections, which are closed at the end."""
        # Keep only the compiled statements of the database between workers: compiling them is slow.
        database, locks, objects = (
            self.worker_env.database,
            self.worker_env.locks,
            RecordingObjectStore(self.folder, sync=lambda _: None),
        )
        objects.effects = effects
        reader = RecordingReader(self.worker_env.reader, effects)
        with effects.watch(database, locks):
            tools = replace(self.worker_env.services, database=database, objects=objects, locks=locks, reader=reader)
            yield RunProcessor(tools)
        for engine in (database.service_engine, locks._engine):
            await engine.dispose()

    async def work_off(self, document_id: UUID, effects: RunEffectRecorder) -> None:
        """Process the document from its current queue to the end of the run or the simulated crash."""
        async with self.process(effects) as process:
            while True:
                try:
                    await process(self.worker_env.job(document_id, effects.queue))
                except MoveToQueue as moved:
                    effects.queue = moved.queue
                except WaitForVectors:
                    await self.worker_env.embed()
                else:
                    return

    async def dies(self, document_id: UUID, effects: RunEffectRecorder) -> bool:
        with suppress(SimulatedCrash):
            await self.work_off(document_id, effects)
            return False
        return True

    async def carry_out_ledger(self) -> None:
        self.seed.execute("UPDATE deletions SET next_attempt_at = now() WHERE done_at IS NULL")
        assert await self.worker_env.ledger.process(self.worker_env.owner.organization_id) == 0

    async def outcome(self) -> Results:
        """Return the final state, after checking that the store holds no unreferenced object."""
        await self.carry_out_ledger()
        assert await stored(self.worker_env.objects) == referenced(self.seed)
        return await everything(self.seed, self.worker_env.objects)
