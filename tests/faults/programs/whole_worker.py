"""A real worker with everything, and a short silence after which it counts as dead: `python -m … <database> <folder>`.

With a third argument every reading hangs; the worker prints a line when one has begun.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, cast

from muniment.processing.readers.contract import ReadingOptions
from muniment.processing.sandbox.client import Sandbox, SandboxedFile
from muniment.settings.processing import WorkerSettings
from muniment.storage.db.address import DatabaseAddress
from muniment.telemetry.logs import configure_logs
from muniment.worker import run
from tests.support.live_api import settings_for

HEARTBEAT = timedelta(seconds=0.2)
STALLED_AFTER = timedelta(seconds=2)


@asynccontextmanager
async def hang(
    _sandbox: Sandbox, _file: BinaryIO, _media_type: str, _options: ReadingOptions, *, first_page: int = 1
) -> AsyncIterator[SandboxedFile]:
    print("reading", flush=True)  # noqa: T201
    await asyncio.Event().wait()
    yield cast("SandboxedFile", None)  # never


def main(database: str, folder: str, *hangs: str) -> None:
    configure_logs("json", "CRITICAL")
    if hangs:
        setattr(Sandbox, "read", hang)  # noqa: B010 its signature is only nearly that of the method
    worker = WorkerSettings(heartbeat=HEARTBEAT, stalled_after=STALLED_AFTER)
    settings = settings_for(DatabaseAddress.parse(database), Path(folder)).model_copy(update={"worker": worker})
    asyncio.run(run(settings))


if __name__ == "__main__":
    main(*sys.argv[1:])
