"""Buffered writing, and blocking work that runs to completion even when its caller is cancelled."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from muniment.storage.objects.port import ObjectWriter

Result = TypeVar("Result")


Arguments = TypeVarTuple("Arguments")


async def run_to_completion(work: Awaitable[Result]) -> Result:
    """Await `work` until it is done, whatever happens; a cancellation in the meantime is raised afterwards.

    Without this, a cancelled caller would clean up while a thread still writes into the same file, or while a server
    still opens the upload that is to be aborted.
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
            task.exception()  # seen, so that asyncio does not report it as forgotten
        raise cancelled
    return task.result()


async def run_in_thread(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run blocking work to its end in a thread."""
    # Not `to_thread`: that is a task, which the end of the event loop cancels while its thread goes on.
    return await run_to_completion(asyncio.get_running_loop().run_in_executor(None, work, *arguments))


_PIECE_BYTES = 1024 * 1024


class BufferedWriter(ObjectWriter):
    """Hands on pieces of about 1 MiB; `flush` hands on the rest."""

    def __init__(self, write_piece: Callable[[bytearray], Awaitable[None]]) -> None:
        self._write_piece = write_piece
        self._buffer = bytearray()

    async def write(self, chunk: bytes) -> None:
        self._buffer += chunk
        if len(self._buffer) >= _PIECE_BYTES:
            await self.flush()

    async def flush(self) -> None:
        gathered, self._buffer = self._buffer, bytearray()
        await self._write_piece(gathered)
