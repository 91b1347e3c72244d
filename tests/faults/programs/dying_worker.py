"""Fork one worker process for each line of the input: `run organization queue number`.

Each child executes one job and kills itself just before its effect with that number; without such an effect it works
to the end. The program answers with a line of JSON: how the child ended, and its last report (the queue of the job,
its effects so far, and its own children).
"""

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TextIO
from uuid import UUID

import psutil

from muniment.bootstrap.job_handlers import open_job_handlers
from muniment.bootstrap.stores import Stores, build_stores
from muniment.bootstrap.worker import build_worker_registry
from muniment.processing.pipeline import progress
from muniment.processing.pipeline.context import WaitForVectors
from muniment.processing.pipeline.processor import RunProcessor
from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.tasks.port import JobHandlers, MoveToQueue, RunJob
from muniment.telemetry.logs import configure_logs
from tests.faults.effects import Effect, RecordingObjectStore, RecordingReader, RunEffectRecorder
from tests.support.live_api import settings_for
from tests.support.seed import Seed
from tests.support.vectors import embed_waiting


class SelfKillingRecorder(RunEffectRecorder):
    def __init__(self, queue: str, dies_at: int, channel: TextIO) -> None:
        super().__init__(self._kill)
        self.queue = queue
        self._dies_at = dies_at
        self._channel = channel

    def _kill(self, number: int, _effect: Effect) -> None:
        if number == self._dies_at:
            self.tell()
            os.kill(os.getpid(), signal.SIGKILL)

    def tell(self) -> None:
        children = [child.pid for child in psutil.Process().children(recursive=True)]
        reached = [asdict(effect) for effect in self.recorded]
        self._channel.write(json.dumps({"queue": self.queue, "reached": reached, "children": children}) + "\n")
        self._channel.flush()


@asynccontextmanager
async def watched(settings: Settings, stores: Stores, effects: RunEffectRecorder) -> AsyncIterator[JobHandlers]:
    """Yield the handlers of `muniment worker` with their effects recorded."""
    objects = RecordingObjectStore(settings.server.data_dir / "blobs")
    objects.effects = effects
    workers = build_worker_registry(settings, stores)
    async with open_job_handlers(settings, replace(stores, objects=objects), workers) as handlers:
        assert isinstance(handlers.run, RunProcessor)
        tools = handlers.run._services
        with effects.watch(tools.database, tools.locks):
            run = RunProcessor(replace(tools, reader=RecordingReader(tools.reader, effects)))
            yield replace(handlers, run=run)


async def carry_out(database: DatabaseAddress, folder: Path, job: RunJob, effects: SelfKillingRecorder) -> None:
    progress.INTERVAL_SECONDS = 0  # report after each page, so that every run has the same effects
    settings = settings_for(database, folder)
    stores = build_stores(settings)
    async with watched(settings, stores, effects) as handlers:
        while True:
            try:
                await handlers.run(replace(job, queue=effects.queue))
            except MoveToQueue as moved:
                effects.queue = moved.queue
            except WaitForVectors:
                assert handlers.embed
                with closing(Seed(database)) as seed:
                    await embed_waiting(seed, handlers.embed)
            else:
                break
        effects.tell()
    await stores.close()


def child(line: str, last_word: int) -> None:
    """Execute one job. Never returns."""
    database, folder, run_id, organization_id, queue, number = json.loads(line)
    with os.fdopen(last_word, "w") as channel:
        job, effects = RunJob(UUID(run_id), UUID(organization_id), queue), SelfKillingRecorder(queue, number, channel)
        asyncio.run(carry_out(DatabaseAddress.parse(database), Path(folder), job, effects))


def main() -> None:
    configure_logs("json", "ERROR")
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                child(line, writing)
            except BaseException:  # noqa: BLE001 the child must never continue as a second parent
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as channel:
            said = channel.readline()
        _, status = os.waitpid(pid, 0)
        answer = {"ended": os.waitstatus_to_exitcode(status), **json.loads(said or "{}")}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
