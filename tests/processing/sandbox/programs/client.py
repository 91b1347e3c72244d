"""Reads a file that never ends, tells the processes behind it, and waits to be killed."""

import asyncio
import sys
import tempfile

from muniment.processing.readers.contract import Means, Options
from muniment.processing.sandbox.client import Sandbox
from muniment.processing.sandbox.parent.fork_server import Workplace
from muniment.telemetry.logs import configure_logs


async def main(folder: str) -> None:
    sandbox = Sandbox(Means(), workplace=Workplace(jobs="tests.processing.sandbox.jobs", folders=(folder,)))
    with tempfile.TemporaryFile() as file:
        async with sandbox.read(file, "hang_with_family", Options()) as reading:
            page = await anext(reading.pages)
            assert sandbox._nursery._link
            sys.stdout.write(f"{page.text} {sandbox._nursery._link.pid}\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


configure_logs("json", "ERROR")
asyncio.run(main(sys.argv[1]))
