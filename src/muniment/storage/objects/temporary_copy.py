"""Copy of an object in an unnamed temporary file, so that even a killed process leaves nothing behind."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO, cast

from muniment.storage.objects.port import ObjectStore


@asynccontextmanager
async def open_temporary_copy(blobs: ObjectStore, key: str) -> AsyncIterator[BinaryIO]:
    with tempfile.TemporaryFile() as file:
        async for piece in blobs.read(key):
            await asyncio.to_thread(file.write, piece)
        await asyncio.to_thread(file.flush)
        file.seek(0)
        yield cast("BinaryIO", file)
