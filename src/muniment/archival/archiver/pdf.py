"""The PDF of a job, whole: in memory if it is small, else in a file."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryFile

from muniment.archival.archiver.outcomes import Dead
from muniment.archival.keys import JobKey
from muniment.archival.paperless.content import Pdf
from muniment.archival.stores import QueueStore
from muniment.storage.blobs.uninterrupted import in_thread

_IN_MEMORY_BYTES = 4 * 1024 * 1024


@asynccontextmanager
async def opened_pdf(queue: QueueStore, key: JobKey) -> AsyncIterator[Pdf]:
    """For the length of the block; `Dead` if it has not the hash of its key."""
    start, digest = bytearray(), hashlib.sha256()
    with TemporaryFile() as file:
        size = 0
        async for piece in queue.read(key.pdf):
            digest.update(piece)
            size += len(piece)
            if size <= _IN_MEMORY_BYTES:
                start += piece
            else:
                await in_thread(file.write, bytes(start) + piece)
                start.clear()
        if digest.hexdigest() != key.sha256:
            raise Dead("The PDF does not have the SHA-256 that its key names")
        yield bytes(start) if size <= _IN_MEMORY_BYTES else file
