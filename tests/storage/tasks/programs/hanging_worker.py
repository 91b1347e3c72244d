"""A real worker whose reader hangs: `python -m … <database> <folder>`. Prints what it has claimed."""

import asyncio
import json
import sys
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from muniment.bootstrap.stores import build_stores
from muniment.processing.runs.repository import RunRepository
from muniment.settings.processing import WorkerSettings
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.principal import Service
from muniment.storage.tasks.port import JobHandlers, RunJob
from muniment.telemetry.logs import configure_logs
from muniment.worker import run
from tests.support.live_api import settings_for

HEARTBEAT = timedelta(seconds=0.2)
STALLED_AFTER = timedelta(seconds=1)


async def main(database: str, folder: str) -> None:
    configure_logs("json", "ERROR")
    worker = WorkerSettings(heartbeat=HEARTBEAT, stalled_after=STALLED_AFTER)
    settings = settings_for(DatabaseAddress.parse(database), Path(folder)).model_copy(update={"worker": worker})
    stores = build_stores(settings)

    async def claim_and_hang(job: RunJob) -> None:
        async with stores.database.service_work(Service(job.organization_id)) as work:
            claimed = await RunRepository(work.session).claim(job.run_id)
        assert claimed is not None
        print(json.dumps(asdict(claimed[0]), default=str), flush=True)  # noqa: T201
        await asyncio.Event().wait()

    await run(settings, JobHandlers(claim_and_hang))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
