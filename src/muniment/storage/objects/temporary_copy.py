"""Copies of objects in unnamed temporary files, which disappear even when the process is killed."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO, cast

from muniment.storage.objects.port import ObjectStore


@asynccontextmanager
async def open_temporary_copy(objects: ObjectStore, key: str) -> AsyncIterator[BinaryIO]:
    """Copy an object into an unnamed temporary file and yield it, positioned at the beginning."""
    with tempfile.TemporaryFile() as file:
        async for chunk in objects.read(key):
            await asyncio.to_thread(file.write, chunk)
        await asyncio.to_thread(file.flush)
        file.seek(0)
        yield cast("BinaryIO", file)
