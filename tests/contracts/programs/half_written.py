"""Write half of an object into a folder store and wait to be killed."""

import asyncio
import sys
from pathlib import Path

from muniment.storage.objects.folder.store import FolderObjectStore


async def main() -> None:
    async with FolderObjectStore(Path(sys.argv[1])).writer("a/x") as writer:
        await writer.write(bytes(2 * 1024 * 1024))
        sys.stdout.write("half written\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


asyncio.run(main())
