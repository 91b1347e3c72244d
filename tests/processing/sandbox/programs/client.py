"""Read an endless file, print the ids of its processes, and wait to be killed."""

import asyncio
import sys
import tempfile

from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.sandbox.client import Sandbox
from muniment.processing.sandbox.parent.fork_server import ForkServerConfig
from muniment.telemetry.logs import configure_logs


async def main(folder: str) -> None:
    sandbox = Sandbox(
        ReaderResources(),
        server_config=ForkServerConfig(jobs_module="tests.processing.sandbox.jobs", import_paths=(folder,)),
    )
    with tempfile.TemporaryFile() as file:
        async with sandbox.read(file, "hang_with_family", ReadingOptions()) as reading:
            page = await anext(reading.pages)
            assert sandbox._fork_server._process
            sys.stdout.write(f"{page.text} {sandbox._fork_server._process.pid}\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


configure_logs("json", "ERROR")
asyncio.run(main(sys.argv[1]))
