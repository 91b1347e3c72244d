"""Copies of content in unnamed temporary files, which disappear even when the process is killed."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO, cast


@asynccontextmanager
async def open_temporary_copy(chunks: AsyncIterator[bytes]) -> AsyncIterator[BinaryIO]:
    """Write the chunks into an unnamed temporary file and yield it, positioned at the beginning."""
    with tempfile.TemporaryFile() as file:
        async for chunk in chunks:
            await asyncio.to_thread(file.write, chunk)
        await asyncio.to_thread(file.flush)
        file.seek(0)
        yield cast("BinaryIO", file)
