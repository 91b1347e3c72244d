"""Buffered writing, and blocking work that runs to completion even when its caller is cancelled."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from muniment.storage.objects.port import ObjectWriter

_CHUNK_BYTES = 1024 * 1024

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


async def run_to_completion(work: Awaitable[Result]) -> Result:
    """Await `work` until it is done, even if the caller is cancelled; raise the cancellation afterwards.

    Without this, a cancelled caller would clean up while a thread still writes to the same file, or while a server
    still starts the upload that is to be aborted.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it as never retrieved
        raise cancelled
    return task.result()


async def run_in_thread(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run blocking work in a thread, to completion even if the caller is cancelled."""
    # Not `to_thread`: the end of the event loop cancels its task while the thread continues.
    return await run_to_completion(asyncio.get_running_loop().run_in_executor(None, work, *arguments))


class BufferedWriter(ObjectWriter):
    """Collect written bytes and pass them on in chunks of about 1 MiB; `flush` passes on the remaining ones."""

    def __init__(self, write_chunk: Callable[[bytearray], Awaitable[None]]) -> None:
        self._write_chunk = write_chunk
        self._buffer = bytearray()

    async def write(self, chunk: bytes) -> None:
        self._buffer += chunk
        if len(self._buffer) >= _CHUNK_BYTES:
            await self.flush()

    async def flush(self) -> None:
        chunk, self._buffer = self._buffer, bytearray()
        await self._write_chunk(chunk)
